//! What must hold: while a world goes on, and when its sky is clear again.

use holdfast::journal::{Key, Record};
use holdfast_protocol::{ConversationId, Outcome, RequestId, Status};

use crate::world::World;

impl World {
    /// Looks past line and pages into the journal: what was accepted is there, what has settled is as
    /// it was, and nothing was paid for twice. While the disk cannot be read, the rest waits.
    pub(crate) async fn audit(&mut self) {
        assert_eq!(self.model.paid_twice(), None, "paid for twice");
        let Some(journal) = self.server.journal() else { return };
        self.tally.audits += 1;
        for &request_id in &self.accepted {
            let key = Key::new(journal.local_principal(), request_id);
            let Ok(found) = journal.find(key).await else { return };
            let Some(Record { outcome, .. }) = found else {
                panic!("{request_id} was accepted, and is lost")
            };
            for tab in &self.tabs {
                let shown = tab.turns.get(&request_id).and_then(|turn| turn.outcome.as_ref());
                if let Some(shown) = shown.filter(|shown| shown.status.is_settled()) {
                    assert_eq!(
                        shown.status, outcome.status,
                        "{} was told that it settled",
                        tab.name
                    );
                }
            }
            if !outcome.status.is_settled() {
                assert!(
                    !self.settled.contains_key(&request_id),
                    "settled, and then not: {outcome:?}"
                );
                continue;
            }
            let outcome = Outcome { retried_by: None, ..outcome };
            let before = self.settled.entry(request_id).or_insert_with(|| outcome.clone());
            if before.question.is_none() && outcome.question.is_some() {
                // Cancelled before it arrived: now it has.
                before.question.clone_from(&outcome.question);
                (before.seq, before.retry_of) = (outcome.seq, outcome.retry_of);
            }
            assert_eq!(*before, outcome, "what has settled never changes");
        }
    }

    pub(crate) async fn judge(&mut self) {
        assert_eq!(self.server.faults(), Vec::<String>::new(), "the archive is sound");
        let accepted = self.accepted.clone();
        self.tally.accepted = accepted.len() as u64;
        for (request_id, conversation_id) in self.asked.clone() {
            let outcome = self.look_up(request_id, conversation_id).await;
            let calls = self.model.calls(request_id);
            self.tally.calls += calls;
            assert!(calls <= 1, "{request_id} was paid for {calls} times");
            if outcome.is_unknown() {
                assert!(!accepted.contains(&request_id), "{request_id} was accepted, and is lost");
                assert_eq!(calls, 0, "{request_id} was paid for, and is lost");
                assert!(self.is_with_somebody(request_id), "the question {request_id} vanished");
                continue;
            }
            assert!(
                outcome.status.is_settled(),
                "never “running” with nobody running it: {outcome:?}"
            );
            *self.tally.ends.entry(outcome.status.as_str()).or_default() += 1;
            let whole = self.model.answer(request_id);
            match outcome.status {
                Status::Completed => assert_eq!(outcome.text(), whole, "the whole answer"),
                _ => assert!(whole.starts_with(outcome.text()), "{outcome:?} of {whole:?}"),
            }
            // A crash between the mark and the call cannot be told from one after it.
            let said = outcome.receipt.as_ref().map_or(0, |receipt| receipt.provider_calls);
            let may_have_called = outcome.status == Status::Interrupted && calls == 0;
            assert!(u64::from(said) == calls || may_have_called, "{calls} calls, and {outcome:?}");
            self.compare(&outcome);
        }
        self.tally.recovered = self
            .tabs
            .iter()
            .flat_map(|tab| tab.turns.values())
            .filter(|turn| turn.recovered)
            .count() as u64;
    }

    /// Whether a question that never arrived is on a screen, in storage, or given back.
    fn is_with_somebody(&self, request_id: RequestId) -> bool {
        self.discarded.contains(&request_id)
            || self.mirror.borrow().contains_key(&request_id)
            || self.tabs.iter().any(|tab| {
                tab.turns.contains_key(&request_id)
                    || tab.returned.iter().any(|(returned, _)| *returned == request_id)
                    || tab.pointers().iter().any(|pointer| pointer.request_id == request_id)
            })
    }

    /// What the tabs show is what the journal says, or more of the same.
    fn compare(&self, outcome: &Outcome) {
        for tab in &self.tabs {
            let Some(turn) = tab.turns.get(&outcome.request_id) else { continue };
            if !turn.status.is_at_rest() {
                continue;
            }
            assert_eq!(
                turn.status.as_str(),
                outcome.status.as_str(),
                "{} shows {turn:?}",
                tab.name
            );
            assert!(turn.shown.text().starts_with(outcome.text()), "{turn:?} of {outcome:?}");
            let kept = tab.pointers().iter().any(|p| p.request_id == outcome.request_id);
            assert!(!kept, "a pointer to what has settled on screen: {turn:?}");
        }
    }

    async fn look_up(&self, request_id: RequestId, conversation_id: ConversationId) -> Outcome {
        let path = format!("/api/v1/requests/{request_id}?conversation_id={conversation_id}");
        let body = self.weather.get(&path).await.expect("the server is up");
        serde_json::from_slice(&body).expect("an outcome")
    }
}
