//! Providers that cost nothing: one answers at once, one never does.

use std::future::pending;

use async_trait::async_trait;
use holdfast::provider::{Call, Generated, Piece, Provider, ProviderError};
use holdfast_protocol::{Finish, Model, ModelState, Route};

/// What is answered: as long as a short answer of a model, the same each time.
const ANSWER: &str = include_str!("../../answer.md");

/// Answers at once, in this process; or never, where it is silent.
pub(crate) struct Instantly {
    pub(crate) is_silent: bool,
}

#[async_trait]
impl Provider for Instantly {
    fn name(&self) -> &'static str {
        "instant"
    }

    fn models(&self) -> Vec<Model> {
        vec![Model {
            name: self.name().to_owned(),
            provider: self.name().to_owned(),
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
        _: &Call,
        pieces: &mut (dyn FnMut(Piece) + Send),
    ) -> Result<Generated, ProviderError> {
        if self.is_silent {
            return pending().await;
        }
        pieces(Piece::Text(ANSWER.to_owned()));
        Ok(Generated { finish: Some(Finish::Stop), ..Generated::default() })
    }
}
