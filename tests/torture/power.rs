//! Power that goes at any moment, in the midst of a write as well as between two: whatever clients
//! were told is true afterwards, and nothing is paid for twice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use holdfast_tests::disk::{Loss, Survivors};
use tokio::time::sleep;

use crate::ask::id;
use crate::ledger::Ledger;
use crate::load::{Clients, Load};
use crate::machine::Machine;
use crate::settings;
use crate::talk::Talk as _;

/// Losses of power in a test run.
const LOSSES: u64 = 300;
/// As many befall one machine; then there is a new one.
const EACH: u64 = 5;
const CLIENTS: usize = 8;
const CONVERSATIONS: usize = 6;

/// When the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    /// While something is being changed on disk.
    Midst,
    /// Whenever.
    Any,
    /// While the server stops.
    Stopping,
}

#[derive(Debug, Default)]
struct Tally {
    losses: u64,
    moments: BTreeMap<Moment, u64>,
    asks: u64,
    accepted: u64,
    settled: u64,
    interrupted: u64,
    /// Found though nobody had been told that they were accepted.
    unheard: u64,
    survivors: Survivors,
}

#[test]
fn what_was_said_before_a_loss_of_power_is_true_after_it() {
    let losses = settings::number("HOLDFAST_POWER_LOSSES", LOSSES);
    let first = settings::seed();
    let mut tally = Tally::default();
    let mut seed = first;
    while tally.losses < losses {
        settings::with_seed(seed, "power::", "HOLDFAST_POWER_LOSSES=1", || {
            settings::simulated(live(seed, &mut tally));
        });
        seed += 1;
    }
    println!("{} machines from seed {first}: {tally:#?}", seed - first);
    if losses >= LOSSES {
        let enough = losses / 10;
        let Survivors { kept, dropped, torn } = tally.survivors;
        let counts = [tally.settled, tally.interrupted, kept, dropped, torn];
        let counts = counts.iter().chain(tally.moments.values());
        assert!(counts.copied().all(|count| count >= enough), "it proves nothing");
        assert!(tally.unheard > 0, "no commit was cut off before its reply");
    }
}

/// One machine, with its losses of power, to its end in peace.
async fn live(seed: u64, tally: &mut Tally) {
    let mut chance = Rng::with_seed(seed);
    let mut machine = Machine::new(seed);
    let ledger = Arc::new(Ledger::default());
    let conversations = (0..CONVERSATIONS).map(|_| id(&mut chance)).collect();
    let load = Load { conversations, pause: Duration::from_millis(60) };
    assert!(machine.start().await.unwrap());
    for _ in 0..EACH {
        let server = machine.client();
        let mut clients = Clients::start(&load, CLIENTS, &server, &ledger, &mut chance);
        drop(server);
        let moment = [Moment::Midst, Moment::Midst, Moment::Any, Moment::Stopping];
        let moment = chance.choice(moment).unwrap();
        match moment {
            Moment::Midst => {
                sleep(Duration::from_millis(chance.u64(0..300))).await;
                machine.disk.go_down_after(chance.u64(0..80));
                while !machine.disk.is_down() {
                    clients.complain();
                    sleep(Duration::from_millis(1)).await;
                }
                // Everything fails now; what is said in the meantime must be true as well.
                sleep(Duration::from_millis(chance.u64(0..40))).await;
            }
            Moment::Any | Moment::Stopping => {
                sleep(Duration::from_micros(chance.u64(0..900_000))).await;
            }
        }
        clients.stop().await;
        if moment == Moment::Stopping {
            // It writes the log back, and deletes it.
            machine.disk.go_down_after(chance.u64(0..400));
            machine.stop(Duration::from_secs(chance.u64(..3))).await;
        }
        let called = machine.model.calls();
        let loss = match chance.u8(..6) {
            0 => Loss::Everything,
            1 => Loss::Nothing,
            _ => Loss::Chance,
        };
        let survivors = machine.lose_power(loss).await;
        tally.survivors += survivors;
        tally.losses += 1;
        *tally.moments.entry(moment).or_default() += 1;

        assert_eq!(machine.faults(), [""; 0], "as the loss of power left it");
        assert!(machine.start().await.expect("an archive opens after any loss of power"));
        assert_eq!(machine.faults(), [""; 0], "as it was taken up");
        for entry in ledger.all() {
            let reply = machine.client().look_up(&entry.ask, 0).await.unwrap();
            ledger.told(&entry.ask, reply.status, &reply.json);
            let is_unknown = reply.json["state"] == "unknown";
            if called.contains_key(entry.ask.id()) {
                // The mark was durable before the first byte, so it has an end at once.
                assert_ne!(reply.json["status"], "pending", "called, and {}", reply.json);
            }
            tally.unheard += u64::from(entry.accepted.is_none() && !is_unknown);
        }
    }
    reconcile(&machine, &ledger, tally).await;
    assert_eq!(machine.stop(Duration::from_secs(30)).await, 0);
}

/// In peace, everything comes to its end.
async fn reconcile(machine: &Machine, ledger: &Ledger, tally: &mut Tally) {
    let client = machine.client();
    for entry in ledger.all() {
        let reply = client.look_up_at_last(&entry.ask).await;
        ledger.told(&entry.ask, reply.status, &reply.json);
        let id = entry.ask.id();
        let calls = machine.model.calls_of(id);
        assert!(calls <= 1, "{id} was paid for {calls} times");
        tally.asks += 1;
        tally.accepted += u64::from(entry.accepted.is_some());
        if reply.json["state"] == "unknown" {
            assert_eq!(calls, 0, "{id} was paid for and is unknown");
            continue;
        }
        if entry.turned_away {
            assert_eq!(calls, 0, "{id} was turned away, and run unasked");
        }
        let whole = machine.model.answer(id);
        let text = reply.json["answer"]["text"].as_str().unwrap_or_default();
        assert!(whole.starts_with(text), "{id}: {text:?} is not from {whole:?}");
        match reply.json["status"].as_str().unwrap() {
            "completed" => assert_eq!((text, calls), (&*whole, 1), "{id}"),
            "interrupted" => tally.interrupted += 1,
            _ => {}
        }
        tally.settled += 1;
    }
}
