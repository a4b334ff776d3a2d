//! A model that bills, inside the process: what it says follows from the ask's id, and it counts.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use fastrand::Rng;
use holdfast::provider::{Call, Generated, Piece, Provider, ProviderError, Usage};
use holdfast_protocol::{FailureCode, Finish, Model as Listed, ModelState, Route};
use tokio::sync::watch;
use tokio::time::sleep;

/// What a question says to be answered in two halves, the second when the test says so.
pub(crate) const HOLD: &str = "hold";

#[derive(Debug)]
pub(crate) struct Model {
    seed: u64,
    calls: Mutex<BTreeMap<String, u64>>,
    /// The number of the call that fails.
    failing: Mutex<Option<u64>>,
    released: watch::Sender<bool>,
}

impl Model {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            calls: Mutex::default(),
            failing: Mutex::default(),
            released: watch::Sender::new(false),
        }
    }

    /// How often it was called for each ask.
    pub(crate) fn calls(&self) -> BTreeMap<String, u64> {
        self.calls.lock().unwrap().clone()
    }

    /// How often it was called for this ask.
    pub(crate) fn calls_of(&self, id: &str) -> u64 {
        self.calls().get(id).copied().unwrap_or(0)
    }

    /// The n-th call from now fails.
    pub(crate) fn fail(&self, nth: u64) {
        *self.failing.lock().unwrap() = Some(nth);
    }

    /// Whether a failure is yet to come.
    pub(crate) fn is_to_fail(&self) -> bool {
        self.failing.lock().unwrap().is_some()
    }

    /// Held answers go on, or those to come are held again.
    pub(crate) fn release(&self, released: bool) {
        self.released.send_replace(released);
    }

    fn temper(&self, id: &str) -> Rng {
        let hash = id
            .bytes()
            .fold(self.seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Rng::with_seed(hash)
    }

    fn words(&self, id: &str) -> Vec<String> {
        let mut temper = self.temper(id);
        // Some are long, so that the log is written back now and then.
        let repeat = if temper.u8(..4) == 0 { 100 } else { 1 };
        (0..temper.usize(4..30))
            .map(|n| format!("Wort {n} für {} — ", temper.u32(..)).repeat(repeat))
            .collect()
    }

    /// All that it would say to an ask.
    pub(crate) fn answer(&self, id: &str) -> String {
        self.words(id).concat()
    }

    fn fails_now(&self) -> bool {
        let mut failing = self.failing.lock().unwrap();
        match &mut *failing {
            Some(1) => {
                *failing = None;
                true
            }
            Some(nth) => {
                *nth -= 1;
                false
            }
            None => false,
        }
    }
}

#[async_trait]
impl Provider for Model {
    fn name(&self) -> &'static str {
        "tortured"
    }

    fn models(&self) -> Vec<Listed> {
        vec![Listed {
            name: "tortured".to_owned(),
            provider: "tortured".to_owned(),
            state: ModelState::Ready,
            default: true,
        }]
    }

    fn is_in_process(&self) -> bool {
        false
    }

    fn route(&self) -> Route {
        Route::Provider
    }

    async fn generate(
        &self,
        call: &Call,
        pieces: &mut (dyn FnMut(Piece) + Send),
    ) -> Result<Generated, ProviderError> {
        let id = &call.idempotency_key;
        *self.calls.lock().unwrap().entry(id.clone()).or_default() += 1;
        if self.fails_now() {
            return Err(ProviderError {
                code: FailureCode::ProviderFailed,
                message: "The model broke off.".to_owned(),
                retryable: true,
                called: true,
                usage: Usage::default(),
            });
        }
        let mut temper = self.temper(id);
        let words = self.words(id);
        let half = words.len() / 2;
        for (at, word) in words.into_iter().enumerate() {
            if at == half && call.question().contains(HOLD) {
                let mut released = self.released.subscribe();
                // The sender is this model's own.
                let _ = released.wait_for(|released| *released).await;
            }
            sleep(Duration::from_millis(temper.u64(0..60))).await;
            pieces(Piece::Text(word));
        }
        let usage = Usage { input_tokens: Some(7), output_tokens: Some(11) };
        Ok(Generated { model: Some("tortured-1".to_owned()), finish: Some(Finish::Stop), usage })
    }
}
