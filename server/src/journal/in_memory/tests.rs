//! The store suite on this backend, which has nothing else to be tested.

#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::journal::suite;

struct Opened(Arc<InMemory>);

impl suite::Store for Opened {
    fn journal(&self) -> Arc<dyn Journal> {
        Arc::clone(&self.0) as _
    }

    async fn reopen(&mut self) {
        self.0.close().await;
        self.0 = Arc::new(self.0.store().open());
    }

    async fn abandon_and_reopen(&mut self) {
        self.0.abandon().await;
        self.0 = Arc::new(self.0.store().open());
    }

    fn take_over(&self) -> Arc<dyn Journal> {
        Arc::new(self.0.store().open())
    }

    fn assert_sound(&self) {
        // Its types leave little that could be unsound.
        let kept = self.0.store().kept();
        assert!(kept.epoch >= self.0.epoch);
    }
}

#[tokio::test]
async fn the_suite() {
    suite::every_case(|| {
        let identity = Identity { archive: "a1".to_owned(), principal: "p1".to_owned() };
        Opened(Arc::new(Store::new(&identity).unwrap().open()))
    })
    .await;
}
