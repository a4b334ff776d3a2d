//! A provider that generates at a model's pace, a token at a time, in this process.

use std::time::Duration;

use async_trait::async_trait;
use holdfast::provider::{Call, Generated, Piece, Provider, ProviderError};
use holdfast_protocol::{Finish, Model, Route};
use tokio::time::{MissedTickBehavior, interval};

use super::Instantly;

/// What each token is: about as long as one of a model's.
pub(crate) const TOKEN: &str = "word ";

/// Answers each ask with so many tokens, one every so often.
pub(crate) struct Paced {
    pub(crate) tokens: usize,
    pub(crate) every: Duration,
}

#[async_trait]
impl Provider for Paced {
    fn name(&self) -> &'static str {
        "paced"
    }

    fn models(&self) -> Vec<Model> {
        Instantly { is_silent: false }.models()
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
        let mut ticks = interval(self.every);
        // A machine that is busy makes it slower, not denser.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for _ in 0..self.tokens {
            ticks.tick().await;
            pieces(Piece::Text(TOKEN.to_owned()));
        }
        Ok(Generated { finish: Some(Finish::Stop), ..Generated::default() })
    }
}
