//! Which models there are, which one is asked when an ask names none, and whether they can answer as
//! far as the last contact showed. No I/O: what was heard is told to it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use holdfast_protocol::limits::MODEL_CHARS;
use holdfast_protocol::{Model, ModelState};
use serde_json::Value;

use super::endpoint::Endpoint;

/// The provider's name.
pub(super) const PROVIDER: &str = "openai";
/// The name of a model that nobody has named. Servers with one model answer to any name.
pub(super) const UNNAMED: &str = "default";
/// The most models that are listed.
const MODELS_MOST: usize = 100;

/// The models of one provider.
#[derive(Debug)]
pub(super) struct Catalog {
    configured: Option<String>,
    /// Whether the first of several models may be asked unasked. Where calls may cost money, which
    /// model they go to is the operator's decision.
    may_choose: bool,
    has_key: bool,
    heard: Mutex<Heard>,
}

#[derive(Debug)]
struct Heard {
    names: Vec<String>,
    state: ModelState,
}

/// Which model a call goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// This one.
    Model(String),
    /// Not known before the models have been listed.
    Unlisted,
    /// The operator has to name one.
    Operator,
}

impl Catalog {
    /// Before any contact.
    pub(super) fn new(endpoint: &Endpoint, configured: Option<String>, has_key: bool) -> Self {
        let lacks_key = endpoint.is_hosted() && !has_key;
        let state = if lacks_key { ModelState::KeyMissing } else { ModelState::Ready };
        Self {
            configured,
            has_key,
            may_choose: endpoint.is_loopback() || !has_key && !endpoint.is_hosted(),
            heard: Mutex::new(Heard { names: Vec::new(), state }),
        }
    }

    /// The models, the default first.
    pub(super) fn models(&self) -> Vec<Model> {
        let heard = self.heard();
        let model = |name: &str, default| Model {
            name: name.to_owned(),
            provider: PROVIDER.to_owned(),
            state: heard.state,
            default,
        };
        match (&self.configured, heard.names.as_slice()) {
            (Some(name), _) => vec![model(name, true)],
            (None, []) => vec![model(UNNAMED, true)],
            (None, names) => {
                let has_default = names.len() == 1 || self.may_choose;
                names
                    .iter()
                    .enumerate()
                    .map(|(place, name)| model(name, has_default && place == 0))
                    .collect()
            }
        }
    }

    /// Whether an ask may name this model. While there is no list, or only a part of one, the server
    /// itself has to say.
    pub(super) fn offers(&self, name: &str) -> bool {
        match (&self.configured, self.heard().names.as_slice()) {
            (Some(configured), _) => configured == name,
            (None, names) => {
                names.is_empty()
                    || names.len() == MODELS_MOST
                    || names.iter().any(|known| known == name)
            }
        }
    }

    /// Which model a call goes to that names none.
    pub(super) fn choose(&self) -> Choice {
        match (&self.configured, self.heard().names.as_slice()) {
            (Some(name), _) | (None, [name]) => Choice::Model(name.clone()),
            (None, []) => Choice::Unlisted,
            (None, [name, ..]) if self.may_choose => Choice::Model(name.clone()),
            (None, _) => Choice::Operator,
        }
    }

    /// Which model a call goes to if there is no list to choose from.
    pub(super) fn choose_unlisted(&self) -> Choice {
        if self.may_choose { Choice::Model(UNNAMED.to_owned()) } else { Choice::Operator }
    }

    /// Takes the reply to a listing of models.
    pub(super) fn listed(&self, list: &Value) {
        let mut names: Vec<String> = Vec::new();
        // Most wrap the list; some send it bare, or each name bare.
        let entries = list.get("data").unwrap_or(list).as_array().into_iter().flatten();
        for entry in entries {
            let name = entry.get("id").unwrap_or(entry).as_str().unwrap_or_default().trim();
            let is_name = !name.is_empty()
                && name.chars().count() <= MODEL_CHARS
                && !name.contains(char::is_control);
            if is_name && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
            if names.len() == MODELS_MOST {
                break;
            }
        }
        let mut heard = self.heard();
        heard.state = ModelState::Ready;
        heard.names = names;
    }

    /// The provider replied with this status, so it is there.
    pub(super) fn replied(&self, status: u16) {
        let mut heard = self.heard();
        heard.state = match status {
            401 | 403 if !self.has_key => ModelState::KeyMissing,
            _ => ModelState::Ready,
        };
        if status == 404 {
            // The model may have gone; the next call lists anew.
            heard.names.clear();
        }
    }

    /// The provider could not be reached, or did not reply in time.
    pub(super) fn unreachable(&self) {
        self.heard().state = ModelState::Unreachable;
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        // What is in it is whole at every moment, so a panic elsewhere does not matter.
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::json;

    use super::*;

    const LOCAL: &str = "http://127.0.0.1:1";
    const REMOTE: &str = "https://models.example";

    fn catalog(url: &str, model: Option<&str>, has_key: bool) -> Catalog {
        Catalog::new(&Endpoint::new(url).unwrap(), model.map(str::to_owned), has_key)
    }

    fn shown(catalog: &Catalog) -> Vec<(String, ModelState, bool)> {
        catalog.models().into_iter().map(|model| (model.name, model.state, model.default)).collect()
    }

    fn entry(name: &str, state: ModelState, default: bool) -> (String, ModelState, bool) {
        (name.to_owned(), state, default)
    }

    #[test]
    fn the_configured_model_is_the_only_one() {
        let catalog = catalog(REMOTE, Some("m"), true);
        catalog.listed(&json!({"data": [{"id": "a"}, {"id": "b"}]}));
        assert_eq!(shown(&catalog), [entry("m", ModelState::Ready, true)]);
        assert_eq!(catalog.choose(), Choice::Model("m".to_owned()));
        assert!(catalog.offers("m") && !catalog.offers("a"), "the operator's choice");
    }

    #[test]
    fn without_one_the_server_is_asked_what_it_has() {
        let catalog = catalog(LOCAL, None, false);
        assert_eq!(shown(&catalog), [entry(UNNAMED, ModelState::Ready, true)]);
        assert_eq!(catalog.choose(), Choice::Unlisted);
        assert!(catalog.offers("anything"), "nobody knows yet");
        assert_eq!(catalog.choose_unlisted(), Choice::Model(UNNAMED.to_owned()));
        catalog.listed(&json!({"object": "list", "data": [{"id": "a"}, {"id": "a"}, {"id": ""}, {"x": 1}, {"id": "b"}]}));
        assert_eq!(
            shown(&catalog),
            [entry("a", ModelState::Ready, true), entry("b", ModelState::Ready, false)]
        );
        assert_eq!(catalog.choose(), Choice::Model("a".to_owned()));
        assert!(catalog.offers("b") && !catalog.offers("c"));
        catalog.replied(404);
        assert_eq!(catalog.choose(), Choice::Unlisted);
    }

    #[test]
    fn a_list_is_read_in_every_form_and_never_without_bound() {
        let catalog = catalog(LOCAL, None, false);
        for list in [json!([{"id": "a"}]), json!(["a"]), json!({"data": ["a"]})] {
            catalog.listed(&list);
            assert_eq!(catalog.choose(), Choice::Model("a".to_owned()), "{list}");
        }
        for list in [
            json!(null),
            json!({}),
            json!({"data": {"id": "a"}}),
            json!([{"id": "a
b"}, {"id": "x".repeat(201)}]),
        ] {
            catalog.listed(&list);
            assert_eq!(catalog.choose(), Choice::Unlisted, "{list}");
        }
        catalog.listed(&(0..1000).map(|number| json!({"id": number.to_string()})).collect());
        assert_eq!(catalog.models().len(), MODELS_MOST);
    }

    #[test]
    fn where_it_may_cost_money_the_operator_chooses() {
        let catalog = catalog(REMOTE, None, true);
        assert_eq!(catalog.choose_unlisted(), Choice::Operator);
        catalog.listed(&json!({"data": [{"id": "a"}, {"id": "b"}]}));
        assert_eq!(catalog.choose(), Choice::Operator);
        assert!(catalog.models().iter().all(|model| !model.default));
        catalog.listed(&json!({"data": [{"id": "a"}]}));
        assert_eq!(catalog.choose(), Choice::Model("a".to_owned()));
    }

    #[test]
    fn the_state_is_what_the_last_contact_showed() {
        let state = |catalog: &Catalog| catalog.models().first().unwrap().state;
        let hosted = catalog(super::super::endpoint::HOSTED, Some("m"), false);
        assert_eq!(state(&hosted), ModelState::KeyMissing);
        let local = catalog(LOCAL, Some("m"), false);
        local.unreachable();
        assert_eq!(state(&local), ModelState::Unreachable);
        local.replied(401);
        assert_eq!(state(&local), ModelState::KeyMissing);
        local.replied(503);
        assert_eq!(state(&local), ModelState::Ready);
        let keyed = catalog(LOCAL, Some("m"), true);
        keyed.replied(401);
        assert_eq!(state(&keyed), ModelState::Ready);
    }
}
