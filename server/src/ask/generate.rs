//! One call to a provider, within the limits of length.

use std::sync::{Mutex, PoisonError};

use holdfast_protocol::FailureCode;
use holdfast_protocol::limits::ANSWER_BYTES;
use tokio::sync::Notify;

use crate::provider::{Call, Generated, Piece, Provider, ProviderError, Usage};

/// The most of a model's thinking aloud that is kept, in bytes. More is dropped: it is not the
/// answer, and no reason to give the answer up.
const REASONING_BYTES: usize = ANSWER_BYTES;

/// What the pieces so far amount to.
#[derive(Default)]
struct Arrived {
    text: usize,
    reasoning: usize,
    /// Whether any of the text is more than white space.
    has_substance: bool,
    too_large: bool,
}

/// Calls the provider and hands on its pieces, until it ends or says too much. Whatever was handed on
/// before an error stays what it is. Dropping the future ends the call.
pub async fn generate(
    provider: &dyn Provider,
    call: &Call,
    pieces: &mut (dyn FnMut(Piece) + Send),
) -> Result<Generated, ProviderError> {
    let arrived = Mutex::new(Arrived::default());
    let overflow = Notify::new();
    let mut bounded = |piece| {
        let mut arrived = arrived.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(piece) = arrived.admit(piece) {
            pieces(piece);
        }
        if arrived.too_large {
            overflow.notify_one();
        }
    };
    let called = !provider.is_in_process();
    let ended = tokio::select! {
        biased;
        ended = provider.generate(call, &mut bounded) => ended,
        () = overflow.notified() => Ok(Generated::default()),
    };
    let arrived = arrived.into_inner().unwrap_or_else(PoisonError::into_inner);
    match ended {
        _ if arrived.too_large => {
            let message =
                format!("The answer is longer than the {ANSWER_BYTES} bytes that are kept.");
            Err(failure(FailureCode::AnswerTooLarge, message, false, called))
        }
        Ok(generated) if !arrived.has_substance => {
            let message = "The provider ended without an answer.".to_owned();
            let error = failure(FailureCode::ProviderEmpty, message, true, called);
            Err(ProviderError { usage: generated.usage, ..error })
        }
        ended => ended,
    }
}

impl Arrived {
    /// As much of the piece as may still be kept.
    fn admit(&mut self, mut piece: Piece) -> Option<Piece> {
        let is_answer = matches!(piece, Piece::Text(_));
        let (text, taken, most) = match &mut piece {
            Piece::Life => return Some(piece),
            Piece::Text(text) => (text, &mut self.text, ANSWER_BYTES),
            Piece::Reasoning(text) => (text, &mut self.reasoning, REASONING_BYTES),
        };
        let end = text.floor_char_boundary(most - *taken);
        let is_whole = end == text.len();
        text.truncate(end);
        // Once something was left out, nothing may follow it.
        *taken = if is_whole { *taken + end } else { most };
        self.has_substance |= is_answer && !text.trim().is_empty();
        self.too_large |= is_answer && !is_whole;
        (end > 0).then_some(piece)
    }
}

const fn failure(
    code: FailureCode,
    message: String,
    retryable: bool,
    called: bool,
) -> ProviderError {
    let usage = Usage { input_tokens: None, output_tokens: None };
    ProviderError { code, message, retryable, called, usage }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use async_trait::async_trait;
    use holdfast_protocol::{Model, Route};

    use super::*;

    /// Hands over the pieces, each after a pause, and then waits for ever or ends.
    struct Script {
        pieces: Vec<(u64, Piece)>,
        hangs: bool,
    }

    #[async_trait]
    impl Provider for Script {
        fn name(&self) -> &'static str {
            "script"
        }
        fn models(&self) -> Vec<Model> {
            Vec::new()
        }
        fn is_in_process(&self) -> bool {
            false
        }
        fn route(&self) -> Route {
            Route::Provider
        }
        async fn generate(
            &self,
            _call: &Call,
            pieces: &mut (dyn FnMut(Piece) + Send),
        ) -> Result<Generated, ProviderError> {
            for (seconds, piece) in &self.pieces {
                tokio::time::sleep(std::time::Duration::from_secs(*seconds)).await;
                pieces(piece.clone());
            }
            if self.hangs {
                std::future::pending::<()>().await;
            }
            Ok(Generated::default())
        }
    }

    async fn run(script: Script) -> (Result<Generated, ProviderError>, String) {
        let call = Call {
            idempotency_key: String::new(),
            model: None,
            messages: Vec::new(),
            language: None,
        };
        let mut text = String::new();
        let ended = generate(&script, &call, &mut |piece| {
            if let Piece::Text(piece) = piece {
                text.push_str(&piece);
            }
        })
        .await;
        (ended, text)
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn an_endless_answer_is_kept_up_to_a_whole_character() {
        let pieces = vec![(0, text("a")), (0, text(&"é".repeat(1_500_000))), (0, text("b"))];
        let (ended, kept) = run(Script { pieces, hangs: true }).await;
        let error = ended.unwrap_err();
        assert_eq!((error.code, error.called), (FailureCode::AnswerTooLarge, true));
        assert_eq!(kept.len(), ANSWER_BYTES - 1);
        assert!(kept.ends_with('é'));
        // Exactly as much as is kept is not too much.
        let pieces = vec![(0, text(&"a".repeat(ANSWER_BYTES)))];
        let (ended, kept) = run(Script { pieces, hangs: false }).await;
        assert!(ended.is_ok());
        assert_eq!(kept.len(), ANSWER_BYTES);
    }

    #[tokio::test(start_paused = true)]
    async fn an_end_without_text_is_no_answer() {
        let pieces = vec![(0, Piece::Reasoning("hm".to_owned())), (0, text(" \n"))];
        let (ended, _) = run(Script { pieces, hangs: false }).await;
        assert_eq!(ended.unwrap_err().code, FailureCode::ProviderEmpty);
    }
}
