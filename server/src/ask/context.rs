//! What a provider is shown beside the question: an instruction, and earlier turns.

use holdfast_protocol::{ContextItem, ContextKind, Status};

use super::Asked;
use crate::journal::{Journal, Result, Turn};
use crate::provider::{Message, Role};

/// How many bytes of earlier turns a call carries at most: about 6,000 tokens, which leaves room for
/// an answer in the smallest windows in use.
const BUDGET: usize = 24_000;
/// Less than this of an answer is not worth carrying.
const WORTHWHILE: usize = 200;

/// What a provider is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// The instruction, the earlier turns, oldest first, and the question, always whole.
    pub messages: Vec<Message>,
    /// The turns among them, in the same order.
    pub items: Vec<ContextItem>,
}

/// Gathers the context of an ask: the system prompt, which is the conversation's own or else the
/// installation's, and the latest settled turns of its conversation that fit.
pub async fn context(
    journal: &dyn Journal,
    asked: &Asked,
    installation: Option<&str>,
) -> Result<Context> {
    let own = journal.system_prompt(asked.conversation).await?;
    let prompt = own.as_deref().or(installation).filter(|prompt| !prompt.is_empty());
    let turns = journal.history(asked.conversation, asked.seq, BUDGET).await?;
    Ok(assemble(asked, prompt, &turns, BUDGET))
}

/// Puts the turns, which come newest first, in the order of the conversation.
fn assemble(asked: &Asked, prompt: Option<&str>, turns: &[Turn], budget: usize) -> Context {
    let mut context = Context::default();
    context
        .messages
        .push(message(Role::System, instruction(prompt, asked.terms.language.as_deref())));
    for (turn, answer) in fitting(turns, budget).into_iter().rev() {
        context.messages.push(message(Role::User, turn.question.clone()));
        context.messages.push(message(Role::Assistant, answer));
        context.items.push(ContextItem {
            kind: ContextKind::Turn,
            id: turn.request_id.to_string(),
            title: None,
            excerpt: None,
            score: None,
        });
    }
    context.messages.push(message(Role::User, asked.question.clone()));
    context
}

/// The turns that fit, newest first, each with as much of its answer as fits. What does not fit ends
/// the list: a gap in the middle would mislead more than a later beginning.
fn fitting(turns: &[Turn], budget: usize) -> Vec<(&Turn, String)> {
    let mut left = budget;
    let mut fitting = Vec::new();
    for turn in turns {
        let Some(room) = left.checked_sub(turn.question.len()) else { break };
        let whole = turn.answer.len() <= room;
        if !whole && room < WORTHWHILE {
            break;
        }
        let end = turn.answer.floor_char_boundary(room);
        let mut answer = turn.answer.get(..end).unwrap_or_default().to_owned();
        left = room - end;
        if !whole || turn.status != Status::Completed {
            // The model must not take a torso for its own idea of an ending.
            answer.push_str("\n\n[The answer was cut off here.]");
        }
        fitting.push((turn, answer));
        if !whole {
            break;
        }
    }
    fitting
}

/// What Holdfast tells a model where nobody tells it anything else.
const DEFAULT_PROMPT: &str = "You answer questions. Be correct and brief, and say so where you do not \
                              know. Write Markdown.";

fn instruction(prompt: Option<&str>, language: Option<&str>) -> String {
    let mut text = prompt.unwrap_or(DEFAULT_PROMPT).to_owned();
    if let Some(language) = language {
        text.push_str(
            " Unless the question asks for another, answer in the language with the tag ",
        );
        text.push_str(language);
        text.push('.');
    }
    text
}

const fn message(role: Role, content: String) -> Message {
    Message { role, content }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

    use holdfast_protocol::{ConversationId, RequestId};
    use uuid::Uuid;

    use super::Role::{Assistant, System, User};
    use super::*;
    use crate::journal::{ConversationKey, PrincipalId, Terms};

    fn asked(question: &str, language: Option<&str>) -> Asked {
        Asked {
            request_id: RequestId::new(Uuid::from_u128(99)),
            conversation: ConversationKey::new(
                PrincipalId(1),
                ConversationId::new(Uuid::from_u128(1)),
            ),
            seq: 99,
            question: question.to_owned(),
            terms: Terms { language: language.map(str::to_owned), ..Terms::default() },
        }
    }

    fn turn(id: u128, status: Status, question: &str, answer: &str) -> Turn {
        Turn {
            request_id: RequestId::new(Uuid::from_u128(id)),
            status,
            question: question.to_owned(),
            answer: answer.to_owned(),
        }
    }

    fn texts(context: &Context) -> Vec<&str> {
        context.messages.iter().skip(1).map(|message| message.content.as_str()).collect()
    }

    #[test]
    fn turns_stand_in_the_order_of_the_conversation() {
        let turns = [turn(2, Status::Completed, "b?", "B"), turn(1, Status::Completed, "a?", "A")];
        let context = assemble(&asked("c?", None), None, &turns, BUDGET);
        assert_eq!(texts(&context), ["a?", "A", "b?", "B", "c?"]);
        let roles: Vec<_> = context.messages.iter().map(|message| message.role).collect();
        assert_eq!(roles, [System, User, Assistant, User, Assistant, User]);
        let ids: Vec<_> = context.items.iter().map(|item| item.id.clone()).collect();
        assert_eq!(ids, [1, 2].map(|id| Uuid::from_u128(id).to_string()));
    }

    #[test]
    fn a_turn_that_did_not_complete_is_marked_as_cut_off() {
        let turns = [turn(1, Status::Interrupted, "a?", "half an ans")];
        let context = assemble(&asked("b?", None), None, &turns, BUDGET);
        assert_eq!(texts(&context)[1], "half an ans\n\n[The answer was cut off here.]");
    }

    #[test]
    fn the_latest_turns_win_and_nothing_is_cut_inside_a_character() {
        let turns = [
            turn(3, Status::Completed, "c?", &"é".repeat(300)),
            turn(2, Status::Completed, "b?", &"é".repeat(300)),
            turn(1, Status::Completed, "a?", "A"),
        ];
        // Room for the newest and for 397 bytes of the one before it: 198 whole characters.
        let context = assemble(&asked("d?", None), None, &turns, 602 + 2 + 397);
        let texts = texts(&context);
        assert_eq!(texts.len(), 5);
        let cut = texts[1].strip_suffix("\n\n[The answer was cut off here.]").unwrap();
        assert_eq!(cut, "é".repeat(198));
        assert_eq!(texts[3], "é".repeat(300));
    }

    #[test]
    fn the_question_is_whole_however_long_it_is() {
        let question = "why ".repeat(10_000);
        let context = assemble(
            &asked(&question, None),
            None,
            &[turn(1, Status::Completed, "a?", "A")],
            BUDGET,
        );
        assert_eq!(texts(&context), ["a?", "A", &question]);
    }

    #[tokio::test]
    async fn the_conversations_prompt_comes_before_the_installations() {
        use crate::journal::in_memory::Store;
        use crate::journal::{Changes, Fingerprint, Identity, Key, NewAsk};
        let journal = Store::new(&Identity::random()).unwrap().open();
        let asked = asked("a?", Some("pt-BR"));
        let ask = NewAsk {
            key: Key::new(PrincipalId(1), asked.request_id),
            conversation_id: asked.conversation.id,
            question: asked.question.clone(),
            terms: Terms::default(),
            retry_of: None,
            system_prompt: String::new(),
            fingerprint: Fingerprint::from_bytes([0; 32]),
            asked_at: holdfast_protocol::Timestamp::default(),
            start: None,
        };
        journal.accept(ask).await.unwrap();
        let first = async |installation: Option<&str>| {
            context(&journal, &asked, installation).await.unwrap().messages[0].content.clone()
        };
        assert!(first(None).await.starts_with("You answer questions."));
        assert!(first(Some("Be kind.")).await.starts_with("Be kind. Unless the question"));
        let prompt = |text: &str| Changes { system_prompt: Some(text.to_owned()), title: None };
        journal.change(asked.conversation, prompt("Be brief.")).await.unwrap();
        assert!(first(Some("Be kind.")).await.starts_with("Be brief. Unless"));
        journal.change(asked.conversation, prompt("")).await.unwrap();
        assert!(first(Some("Be kind.")).await.starts_with("Be kind."));
    }

    #[test]
    fn the_instruction_names_the_language() {
        let context = assemble(&asked("a?", Some("pt-BR")), None, &[], BUDGET);
        assert!(context.messages[0].content.ends_with("the tag pt-BR."));
        let context = assemble(&asked("a?", None), None, &[], BUDGET);
        assert!(context.messages[0].content.ends_with("Markdown."));
    }
}
