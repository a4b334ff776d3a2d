//! A model that bills: it counts every call, and what it says follows from the question alone.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use holdfast::provider::{Call, Generated, Piece, Provider, ProviderError, Usage};
use holdfast_protocol::{FailureCode, Finish, Model as Listed, ModelState, RequestId, Route};

/// Slow, sometimes broken, always counted.
#[derive(Debug)]
pub(crate) struct Model {
    seed: u64,
    calls: Mutex<BTreeMap<String, u64>>,
    running: AtomicUsize,
}

impl Model {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, calls: Mutex::default(), running: AtomicUsize::new(0) }
    }

    /// How often it was called for this ask.
    pub(crate) fn calls(&self, request_id: RequestId) -> u64 {
        self.calls.lock().unwrap().get(&request_id.to_string()).copied().unwrap_or(0)
    }

    /// An ask for which it was called more than once.
    pub(crate) fn paid_twice(&self) -> Option<String> {
        let calls = self.calls.lock().unwrap();
        calls.iter().find(|(_, count)| **count > 1).map(|(key, _)| key.clone())
    }

    /// Whether nobody is being answered.
    pub(crate) fn is_idle(&self) -> bool {
        self.running.load(Ordering::Relaxed) == 0
    }

    fn temper(&self, key: &str) -> fastrand::Rng {
        let hash = key
            .bytes()
            .fold(self.seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        fastrand::Rng::with_seed(hash)
    }

    fn words(&self, key: &str) -> Vec<String> {
        let mut temper = self.temper(key);
        let count = temper.usize(1..40);
        (0..count).map(|n| format!("Wort {n} für {} — ", temper.u16(..))).collect()
    }

    /// All it would say.
    pub(crate) fn answer(&self, request_id: RequestId) -> String {
        self.words(&request_id.to_string()).concat()
    }
}

/// Counts a call as running until it ends, however it ends.
struct Running<'a>(&'a AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a provider lists that has one model, and that always ready.
pub(crate) fn listed(name: &str) -> Vec<Listed> {
    vec![Listed {
        name: name.to_owned(),
        provider: name.to_owned(),
        state: ModelState::Ready,
        default: true,
    }]
}

#[async_trait]
impl Provider for Model {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn models(&self) -> Vec<Listed> {
        listed(self.name())
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
        let key = call.idempotency_key.clone();
        *self.calls.lock().unwrap().entry(key.clone()).or_default() += 1;
        self.running.fetch_add(1, Ordering::Relaxed);
        let _running = Running(&self.running);
        let mut temper = self.temper(&key);
        let breaks = temper.u8(0..8) == 0;
        let hangs = temper.u8(0..16) == 0;
        // Only signs of life at first, for longer than it may be silent.
        let signs = if temper.u8(0..16) == 0 { temper.u8(0..20) } else { 0 };
        for _ in 0..signs {
            tokio::time::sleep(Duration::from_secs(5)).await;
            pieces(Piece::Life);
        }
        tokio::time::sleep(Duration::from_millis(temper.u64(0..2_000))).await;
        for word in self.words(&key) {
            if breaks && temper.u8(0..8) == 0 {
                return Err(ProviderError {
                    code: FailureCode::ProviderFailed,
                    message: "The model broke off.".to_owned(),
                    retryable: true,
                    called: true,
                    usage: Usage::default(),
                });
            }
            if hangs && temper.u8(0..8) == 0 {
                std::future::pending::<()>().await;
            }
            pieces(Piece::Text(word));
            tokio::time::sleep(Duration::from_millis(temper.u64(0..300))).await;
        }
        Ok(Generated {
            model: Some("simulated".to_owned()),
            finish: Some(Finish::Stop),
            usage: Usage::default(),
        })
    }
}
