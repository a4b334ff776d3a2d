//! One operation at a time fails, the first, the second, the third … until a whole story passes
//! without one: nothing that was said becomes untrue, and nothing is paid for twice.
//!
//! Each case is a kind of operation, a way to fail, whether that lasts, and what comes next: the fault
//! is lifted, or the process is killed before anything else is written, or power is lost.

use std::time::Duration;

use fastrand::Rng;
use holdfast_tests::disk::{Failure, Fault, Loss, Operation};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::ask::{Ask, id};
use crate::ledger::Ledger;
use crate::machine::{Client, Machine};
use crate::model::HOLD;
use crate::settings;
use crate::talk::{Reply, Talk as _};

/// More than any story has of one kind of operation.
const NEVER: u64 = 2_000;
/// How often something is tried with the fault in place.
const TRIES: u32 = 3;
/// How long anything may take once nothing fails any more.
const SOON: Duration = Duration::from_secs(30);

/// What comes after the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Lifted,
    Killed,
    PowerLost,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    /// What of the disk fails, if anything does.
    fault: Option<Fault>,
    /// The call of the provider that fails, if one does.
    call: Option<u64>,
    then: Then,
}

/// The machine is down: the story ends here.
#[derive(Clone, Copy, Debug)]
struct Down;

type Step<T = ()> = Result<T, Down>;

struct Story {
    case: Case,
    machine: Machine,
    ledger: Ledger,
    chance: Rng,
    /// How an ask was answered while its archive failed.
    archived_late: bool,
}

/// Plays the story with the first, second, third … operation of a kind failing, until one is untouched.
/// Says how many were not.
fn each(operation: Operation, failure: Failure, lasts: bool, then: Then) -> u64 {
    every(1, operation, failure, lasts, then)
}

/// The same with every so manieth, in a test run; with all of them in a long one.
fn every(step: u64, operation: Operation, failure: Failure, lasts: bool, then: Then) -> u64 {
    let step = if settings::is_long() { 1 } else { step };
    let first = settings::seed();
    for nth in (first..NEVER).step_by(usize::try_from(step).unwrap()) {
        let fault = Some(Fault { operation, nth, lasts, failure });
        if !strikes(nth, Case { fault, call: None, then }) {
            return nth - first;
        }
    }
    panic!("{operation:?} goes on for ever");
}

/// Plays the story; says whether what was to fail did.
fn strikes(nth: u64, case: Case) -> bool {
    settings::with_seed(nth, "faults::", "HOLDFAST_LONG=1", || {
        settings::simulated(Story::play(nth, case))
    })
}

#[test]
fn a_write_that_fails() {
    let writes = each(Operation::Write, Failure::Io, false, Then::Lifted);
    assert!(writes > 50, "{writes} writes");
    every(3, Operation::Write, Failure::Io, true, Then::Lifted);
    every(3, Operation::Write, Failure::Full, false, Then::Killed);
    every(3, Operation::Write, Failure::Full, false, Then::PowerLost);
}

#[test]
fn a_disk_without_room_or_permission() {
    for failure in [Failure::Full, Failure::ReadOnly] {
        every(4, Operation::Write, failure, false, Then::Lifted);
        every(4, Operation::Write, failure, true, Then::Lifted);
    }
}

#[test]
fn a_sync_that_fails() {
    for lasts in [false, true] {
        let syncs = each(Operation::Sync, Failure::Io, lasts, Then::Lifted);
        assert!(syncs > 15, "{syncs} syncs");
    }
    // The very case: nothing is written after the commit whose sync has failed.
    each(Operation::Sync, Failure::Io, false, Then::Killed);
    each(Operation::Sync, Failure::Io, false, Then::PowerLost);
}

#[test]
fn an_open_that_fails() {
    for lasts in [false, true] {
        let opens = each(Operation::Open, Failure::CannotOpen, lasts, Then::Lifted);
        assert!(opens >= 5, "{opens} opens");
    }
    each(Operation::Open, Failure::CannotOpen, false, Then::PowerLost);
}

#[test]
fn a_read_that_fails() {
    for lasts in [false, true] {
        let reads = each(Operation::Read, Failure::Io, lasts, Then::Lifted);
        assert!(reads > 20, "{reads} reads");
    }
    each(Operation::Read, Failure::Io, false, Then::PowerLost);
}

#[test]
fn a_truncate_or_a_delete_that_fails() {
    for operation in [Operation::Truncate, Operation::Delete] {
        for lasts in [false, true] {
            let faults = each(operation, Failure::Io, lasts, Then::Lifted);
            assert!(faults > 0, "{operation:?} never happened");
        }
        each(operation, Failure::Io, false, Then::PowerLost);
    }
}

#[test]
fn a_call_of_the_provider_that_fails() {
    let calls = (1..NEVER)
        .find(|nth| !strikes(*nth, Case { fault: None, call: Some(*nth), then: Then::Lifted }));
    assert_eq!(calls, Some(5), "four are made");
}

impl Story {
    /// Tells the story; says whether the fault struck.
    async fn play(seed: u64, case: Case) -> bool {
        let machine = Machine::new(seed);
        if let Some(fault) = case.fault {
            machine.disk.fail(fault);
        }
        if let Some(call) = case.call {
            machine.model.fail(call);
        }
        if case.then != Then::Lifted {
            machine.disk.go_down_with_fault();
        }
        let chance = Rng::with_seed(seed);
        let ledger = Ledger::default();
        let mut story = Self { case, machine, ledger, chance, archived_late: false };
        let told = story.tell().await;
        let was_struck = if case.call.is_some() {
            !story.machine.model.is_to_fail()
        } else {
            story.machine.disk.struck() > 0
        };
        story.machine.model.fail(NEVER);
        match told {
            Ok(()) => {}
            Err(Down) if case.then == Then::Killed => story.machine.kill().await,
            Err(Down) => drop(story.machine.lose_power(Loss::Chance).await),
        }
        story.machine.disk.lift();
        story.look_back().await;
        was_struck
    }

    async fn tell(&mut self) -> Step {
        self.start().await?;
        let [conversation, elsewhere] = [(); 2].map(|()| id(&mut self.chance));
        let first = self.ask(&conversation, &format!("first, {HOLD}")).await?;
        self.shows_half(&first).await?;
        let second = self.ask(&conversation, "second").await?;
        self.attaches(&first).await?;
        self.machine.model.release(true);
        for ask in [&first, &second] {
            let outcome = self.settled(ask).await?;
            let status = outcome["status"].as_str().unwrap_or_default();
            assert!(status == "completed" || self.may_fail() && status == "failed", "{outcome}");
        }
        self.machine.model.release(false);

        let third = self.ask(&elsewhere, &format!("third, {HOLD}")).await?;
        self.shows_half(&third).await?;
        self.cancelled(&third).await?;
        let unheard = Ask::new(&mut self.chance, &conversation, "cancelled before it was heard of");
        self.ledger.sent(&unheard);
        self.cancelled(&unheard).await?;
        let late =
            self.reply(&unheard, |client, ask| async move { client.ask(&ask, 0).await }).await?;
        assert_eq!(late.json["status"], "cancelled");

        let fourth = self.ask(&conversation, &format!("fourth, {HOLD}")).await?;
        self.shows_half(&fourth).await?;
        let fifth = self.ask(&conversation, "fifth, in line").await?;
        self.attaches(&fifth).await?;
        self.stop().await
    }

    /// An ask fails where the provider does; and where its conversation cannot be read, as nothing is
    /// sent then.
    fn may_fail(&self) -> bool {
        self.case.call.is_some() || self.reading_fails()
    }

    fn reading_fails(&self) -> bool {
        self.fails(&[Operation::Read, Operation::Open])
    }

    fn fails(&self, operations: &[Operation]) -> bool {
        self.case.fault.is_some_and(|fault| operations.contains(&fault.operation))
    }

    fn lasts(&self) -> bool {
        self.case.fault.is_some_and(|fault| fault.lasts)
    }

    /// Starts the server, again and again where the disk does not let it.
    async fn start(&mut self) -> Step {
        for attempt in 1.. {
            match self.machine.start().await {
                Ok(true) => return self.going_on(),
                Ok(false) | Err(_) if attempt <= TRIES => {}
                Ok(false) => panic!("it is never ready"),
                Err(error) => panic!("it does not start: {error}"),
            }
            self.machine.stop(Duration::ZERO).await;
            self.going_on()?;
            if attempt == TRIES || !self.lasts() {
                self.machine.disk.lift();
            }
        }
        Ok(())
    }

    fn going_on(&self) -> Step {
        if self.machine.disk.is_down() { Err(Down) } else { Ok(()) }
    }

    /// Sends a request about an ask until it is heard, and checks every reply.
    async fn reply<F>(&mut self, ask: &Ask, send: impl Fn(Client, Ask) -> F) -> Step<Reply>
    where
        F: Future<Output = Option<Reply>>,
    {
        for attempt in 1.. {
            self.ledger.sent(ask);
            let reply = send(self.machine.client(), ask.clone()).await.unwrap();
            self.ledger.told(ask, reply.status, &reply.json);
            self.going_on()?;
            if reply.status != 503 {
                return Ok(reply);
            }
            assert_eq!(reply.json["code"], "archive_unavailable");
            assert!(reply.has_retry_after);
            assert!(attempt <= TRIES, "{} is never heard", ask.question());
            assert_eq!(self.machine.model.calls_of(ask.id()), 0, "not accepted, and paid for");
            self.known_ids_attach().await?;
            if attempt == TRIES {
                self.machine.disk.lift();
            }
            sleep(Duration::from_secs(1)).await;
        }
        Err(Down)
    }

    /// Asks, and is accepted.
    async fn ask(&mut self, conversation: &str, question: &str) -> Step<Ask> {
        let ask = Ask::new(&mut self.chance, conversation, question);
        self.ledger.sent(&ask);
        self.attaches(&ask).await?;
        Ok(ask)
    }

    /// Submits an ask, perhaps once more.
    async fn attaches(&mut self, ask: &Ask) -> Step {
        self.reply(ask, |client, ask| async move { client.ask(&ask, 0).await }).await.map(drop)
    }

    /// Whatever was accepted is found, whatever cannot be written.
    async fn known_ids_attach(&self) -> Step {
        for entry in self.ledger.all() {
            let reply = self.machine.client().look_up(&entry.ask, 0).await.unwrap();
            self.ledger.told(&entry.ask, reply.status, &reply.json);
            self.going_on()?;
            assert!(reply.status != 503 || self.reading_fails(), "{} cannot be found", reply.json);
        }
        Ok(())
    }

    /// Waits until half an answer is there, and for the journal to have it.
    async fn shows_half(&mut self, ask: &Ask) -> Step {
        let mut deadline = Instant::now() + SOON;
        let mut failing = self.lasts();
        let whole = self.machine.model.answer(ask.id());
        loop {
            let reply =
                self.reply(ask, |client, ask| async move { client.look_up(&ask, 0).await }).await?;
            let text = reply.json["answer"]["text"].as_str().unwrap_or_default();
            assert!(whole.starts_with(text));
            if text.len() * 3 > whole.len() || self.may_fail() && reply.json["status"] == "failed" {
                break;
            }
            if Instant::now() > deadline {
                assert!(failing, "it never begins: {}", reply.json);
                self.machine.disk.lift();
                failing = false;
                deadline = Instant::now() + SOON;
            }
            sleep(Duration::from_millis(50)).await;
        }
        sleep(Duration::from_secs(1)).await;
        self.going_on()
    }

    /// Waits for an ask's end. One that was paid for and cannot be archived is shown whole.
    async fn settled(&mut self, ask: &Ask) -> Step<Value> {
        let mut deadline = Instant::now() + SOON;
        let mut failing = self.lasts();
        loop {
            let reply =
                self.reply(ask, |client, ask| async move { client.look_up(&ask, 1).await }).await?;
            if reply.json["status"] != "pending" {
                let whole = self.machine.model.answer(ask.id());
                if reply.json["status"] == "completed" {
                    assert_eq!(reply.json["answer"]["text"], whole);
                }
                return Ok(reply.json);
            }
            let is_archiving = reply.json["state"] == "archiving";
            if is_archiving && failing {
                self.archives_late(ask, &reply.json).await?;
                deadline = Instant::now() + SOON;
                failing = false;
            } else if Instant::now() > deadline {
                assert!(failing, "{} never settles: {}", ask.question(), reply.json);
                self.machine.disk.lift();
                failing = false;
                deadline = Instant::now() + SOON;
            }
        }
    }

    /// An answer that has come and cannot be archived: it is there, other asks are turned away, and
    /// when the disk is back it settles.
    async fn archives_late(&mut self, ask: &Ask, outcome: &Value) -> Step {
        if !self.archived_late && self.lasts() {
            // All of it is shown, where it was not cancelled.
            let whole = self.machine.model.answer(ask.id());
            let text = outcome["answer"]["text"].as_str().unwrap_or_default();
            assert!(text == whole || ask.question().contains("third"), "{text} is not {whole}");
            let other = Ask::new(&mut self.chance, &id(&mut Rng::with_seed(9)), "meanwhile");
            self.ledger.sent(&other);
            let reply = self.machine.client().ask(&other, 0).await.unwrap();
            self.ledger.told(&other, reply.status, &reply.json);
            self.going_on()?;
            let is_writing = self.fails(&[Operation::Write, Operation::Sync]);
            assert!(reply.status == 503 || !is_writing, "{} {}", reply.status, reply.json);
            self.known_ids_attach().await?;
            self.archived_late = true;
        }
        self.machine.disk.lift();
        Ok(())
    }

    /// Cancels until that is durable.
    async fn cancelled(&mut self, ask: &Ask) -> Step {
        let reply =
            self.reply(ask, |client, ask| async move { client.cancel(&ask, false).await }).await?;
        let outcome =
            if reply.json["status"] == "pending" { self.settled(ask).await? } else { reply.json };
        let status = outcome["status"].as_str().unwrap_or_default();
        assert!(status == "cancelled" || self.may_fail() && status == "failed", "{outcome}");
        Ok(())
    }

    /// Stops the server in the midst of an answer.
    async fn stop(&mut self) -> Step {
        let before = self.machine.disk.struck();
        let unarchived = self.machine.stop(Duration::ZERO).await;
        self.going_on()?;
        let failing = self.machine.disk.struck() > before;
        assert!(unarchived == 0 || failing, "{unarchived} answers were not archived");
        Ok(())
    }

    /// Nothing fails any more: everything that was said is true, and everything comes to its end.
    async fn look_back(&mut self) {
        let called = self.machine.model.calls();
        let is_ready = self.machine.start().await.expect("a disk that is well again opens");
        assert!(is_ready);
        assert_eq!(self.machine.faults(), [""; 0]);
        self.machine.model.release(true);
        let client = self.machine.client();
        for entry in self.ledger.all() {
            let ask = &entry.ask;
            let reply = client.look_up(ask, 0).await.unwrap();
            if called.contains_key(ask.id()) {
                assert_ne!(reply.json["status"], "pending", "called, and {}", reply.json);
            }
            let reply = client.look_up_at_last(ask).await;
            self.ledger.told(ask, reply.status, &reply.json);
            let calls = self.machine.model.calls_of(ask.id());
            assert!(calls <= 1, "{} was paid for {calls} times", ask.question());
            assert!(calls == 0 || !entry.turned_away, "{} was run unasked", ask.question());
        }
        // A new one is taken as if nothing had been.
        let last = Ask::new(&mut self.chance, &id(&mut Rng::with_seed(5)), "at last");
        let reply = client.ask(&last, 25).await.unwrap();
        assert_eq!(reply.json["status"], "completed", "{}", reply.json);
        assert_eq!(self.machine.stop(SOON).await, 0);
    }
}
