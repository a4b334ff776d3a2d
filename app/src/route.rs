//! The fragment: which conversation an address means, and moving between them. Not here: what
//! happens when the conversation in view changes; that is the driver's.

use holdfast_protocol::ConversationId;
use wasm_bindgen::JsValue;

/// The conversation a fragment names. Anything malformed is a new chat.
pub(crate) fn parse(fragment: &str) -> Option<ConversationId> {
    fragment.trim_start_matches('#').strip_prefix("/c/")?.parse().ok()
}

/// The fragment of a conversation, or of a new chat.
pub(crate) fn fragment(view: Option<ConversationId>) -> String {
    view.map_or_else(|| "#/".to_owned(), |id| format!("#/c/{id}"))
}

/// The conversation the address bar names now.
pub(crate) fn current() -> Option<ConversationId> {
    parse(&leptos::prelude::window().location().hash().unwrap_or_default())
}

/// Puts a conversation into the address bar as a new step of the history.
///
/// No event follows: browsers raise one only when a person moves. Browsers limit how often this
/// may be done; what fails then is the address, never the page.
pub(crate) fn push(view: Option<ConversationId>) {
    if let Ok(history) = leptos::prelude::window().history() {
        let _ = history.push_state_with_url(&JsValue::NULL, "", Some(&fragment(view)));
    }
}

/// Puts a conversation into the address bar in the place of the step that is there.
pub(crate) fn replace(view: Option<ConversationId>) {
    if let Ok(history) = leptos::prelude::window().history() {
        let state = history.state().unwrap_or(JsValue::NULL);
        let _ = history.replace_state_with_url(&state, "", Some(&fragment(view)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "018f2b6e-7c11-7cc3-9d5a-0123456789ab";

    #[test]
    fn a_conversation_and_its_fragment_agree() {
        let view = parse(&format!("#/c/{ID}"));
        assert_eq!(view.map(|id| id.to_string()).as_deref(), Some(ID));
        assert_eq!(parse(&fragment(view)), view);
        assert_eq!(parse(&fragment(None)), None);
    }

    #[test]
    fn anything_else_is_a_new_chat() {
        let upper = format!("#/c/{}", ID.to_uppercase());
        let longer = format!("#/c/{ID}/x");
        for fragment in ["", "#", "#/", "#/c/", "#/c/x", "#/settings", &upper, &longer, ID] {
            assert_eq!(parse(fragment), None, "{fragment}");
        }
    }
}
