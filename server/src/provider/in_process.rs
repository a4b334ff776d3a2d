//! The built-in provider: what [`notes`](super::notes) answers, as a provider. It opens no connection,
//! makes no provider call and needs no key, so it is what runs where the operator has named none.
//!
//! What is answered, and in which words, is decided in `notes`; here is only how it is handed over.

use async_trait::async_trait;
use holdfast_protocol::{Finish, Model, ModelState, Route};

use super::{Call, Generated, Piece, Provider, ProviderError, notes};

/// The provider's name, and that of its one model.
const NAME: &str = "notes";

/// Answers from the handbook.
#[derive(Clone, Copy, Debug, Default)]
pub struct NotesProvider;

#[async_trait]
impl Provider for NotesProvider {
    fn name(&self) -> &str {
        NAME
    }

    fn models(&self) -> Vec<Model> {
        vec![Model {
            name: NAME.to_owned(),
            provider: NAME.to_owned(),
            state: ModelState::Ready,
            default: true,
        }]
    }

    fn is_in_process(&self) -> bool {
        true
    }

    fn route(&self) -> Route {
        Route::Notes
    }

    async fn generate(
        &self,
        call: &Call,
        pieces: &mut (dyn FnMut(Piece) + Send),
    ) -> Result<Generated, ProviderError> {
        let language = call.language.as_deref().unwrap_or_default();
        let answer = notes::answer(call.question(), language);
        for block in answer.markdown.split_inclusive("\n\n") {
            pieces(Piece::Text(block.to_owned()));
            // Whoever watches sees it come, and whoever cancels gets a word in.
            tokio::task::yield_now().await;
        }
        Ok(Generated { finish: Some(Finish::Stop), ..Generated::default() })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::provider::{Message, Role};

    fn message(role: Role, content: &str) -> Message {
        Message { role, content: content.to_owned() }
    }

    async fn ask(messages: Vec<Message>, language: Option<&str>) -> Vec<String> {
        let call = Call {
            idempotency_key: "k".to_owned(),
            model: None,
            messages,
            language: language.map(str::to_owned),
        };
        let mut heard = Vec::new();
        let mut pieces = |piece| match piece {
            Piece::Text(text) => heard.push(text),
            other => panic!("{other:?}"),
        };
        let end = NotesProvider.generate(&call, &mut pieces).await.unwrap();
        assert_eq!(end, Generated { finish: Some(Finish::Stop), ..Generated::default() });
        heard
    }

    #[tokio::test]
    async fn the_answer_is_handed_over_whole_in_a_few_pieces() {
        let question = "What happens when the line drops?";
        let pieces = ask(vec![message(Role::User, question)], Some("de")).await;
        assert!(pieces.len() > 1 && pieces.iter().all(|piece| !piece.is_empty()), "{pieces:?}");
        assert_eq!(pieces.concat(), notes::answer(question, "de").markdown);
    }

    #[tokio::test]
    async fn it_is_the_last_question_that_is_answered() {
        let (first, last) = ("What does it cost?", "How do I back up?");
        let conversation = vec![
            message(Role::System, "Be brief."),
            message(Role::User, first),
            message(Role::Assistant, "Nothing."),
            message(Role::User, last),
        ];
        let answered = ask(conversation, None).await.concat();
        assert_eq!(answered, notes::answer(last, "").markdown);
        assert_ne!(answered, notes::answer(first, "").markdown);
    }

    #[test]
    fn it_calls_nobody() {
        assert!(NotesProvider.is_in_process());
        assert_eq!(NotesProvider.route(), Route::Notes);
        assert_eq!(NotesProvider.models().first().unwrap().state, ModelState::Ready);
    }
}
