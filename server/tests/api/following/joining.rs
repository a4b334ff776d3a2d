//! Any sequence of cuts, offsets and watchers joins to the same bytes.

use holdfast_protocol::FailureCode;
use holdfast_protocol::following::Followed;
use proptest::prelude::*;
use proptest::sample::Index;
use tokio::time::{Duration, sleep};

use crate::support::{Held, Spawned, Stream, ask, error, spawn};

#[derive(Clone, Debug)]
enum Step {
    /// The provider says so much of this.
    Say(&'static str, usize),
    Think(&'static str),
    /// Somebody comes, with what there was of the text at some time, or an offset that is none.
    Come(Index),
    ComeWith(u64),
    /// Somebody reads so many events.
    Read(Index, usize),
    /// Somebody's line is cut, and connects again where it was.
    Cut(Index),
    Pause(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let text = prop::sample::select(vec!["a", "é", "世", "🌍", "\r\n", "data: \0"]);
    let times = prop_oneof![4 => 1..9_usize, 1 => 5_000..50_000_usize];
    prop_oneof![
        4 => (text.clone(), times).prop_map(|(text, times)| Step::Say(text, times)),
        1 => text.prop_map(Step::Think),
        2 => any::<Index>().prop_map(Step::Come),
        1 => prop_oneof![0..40_u64, Just(u64::MAX)].prop_map(Step::ComeWith),
        6 => (any::<Index>(), 1..4_usize).prop_map(|(who, events)| Step::Read(who, events)),
        2 => any::<Index>().prop_map(Step::Cut),
        3 => prop::sample::select(vec![0, 1, 19, 20, 21, 400]).prop_map(Step::Pause),
    ]
}

#[derive(Clone, Copy, Debug)]
enum End {
    Whole,
    Failed,
    Cancelled,
}

/// A world of one ask.
struct World {
    server: Spawned,
    held: Held,
    said: String,
    watchers: Vec<Stream>,
}

impl World {
    async fn new() -> Self {
        let server = spawn().await;
        server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
        let held = server.provider.held().await;
        Self { server, held, said: String::new(), watchers: Vec::new() }
    }

    async fn come(&mut self, has: &str) {
        let stream = self.server.follow_after(&ask(1, ""), has).await;
        self.watchers.push(stream);
    }

    async fn take(&mut self, step: &Step) {
        match step {
            Step::Say(text, times) => {
                let text = text.repeat(*times);
                self.held.say(&text);
                self.said.push_str(&text);
            }
            Step::Think(text) => self.held.think(text),
            Step::Come(at) => {
                // What was said is not what has arrived: it may be beyond the end by now.
                let at = self.said.floor_char_boundary(at.index(self.said.len() + 1));
                let has = self.said[..at].to_owned();
                self.come(&has).await;
            }
            Step::ComeWith(after) => {
                let has = usize::try_from(*after).ok().and_then(|at| self.said.get(..at));
                let has = has.unwrap_or_default().to_owned();
                let query = format!("&after={after}");
                let request = crate::support::get(&crate::support::events(&ask(1, ""), &query));
                let request = request.body(axum::body::Body::empty()).unwrap();
                let mut stream = self.server.stream(request).await.unwrap();
                stream.text = has;
                self.watchers.push(stream);
            }
            Step::Read(who, events) if !self.watchers.is_empty() => {
                let who = who.index(self.watchers.len());
                for _ in 0..*events {
                    let stream = &mut self.watchers[who];
                    tokio::select! {
                        biased;
                        next = stream.next() => {
                            assert!(!matches!(next, None | Some(Followed::Outcome(_))), "{next:?}");
                        }
                        () = sleep(Duration::from_millis(1)) => break,
                    }
                    assert!(self.said.starts_with(&self.watchers[who].text));
                }
            }
            Step::Cut(who) if !self.watchers.is_empty() => {
                let who = who.index(self.watchers.len());
                let cut = self.watchers.swap_remove(who);
                let has = cut.text.clone();
                drop(cut);
                self.come(&has).await;
            }
            Step::Pause(millis) => sleep(Duration::from_millis(*millis)).await,
            Step::Read(..) | Step::Cut(_) => {}
        }
    }

    async fn end(&mut self, end: End) -> &'static str {
        match end {
            End::Whole => {
                // One without a word would have failed.
                self.take(&Step::Say("!", 1)).await;
                self.held.end();
            }
            End::Failed => self.held.fail(error(FailureCode::ProviderFailed, true)),
            End::Cancelled => {
                // What was said arrives before the stop does.
                sleep(Duration::from_millis(1)).await;
                self.server.cancel(&ask(1, "")).await;
            }
        }
        self.server.look_up(&ask(1, ""), 25).await;
        match end {
            End::Whole => "completed",
            End::Failed => "failed",
            End::Cancelled => "cancelled",
        }
    }
}

async fn play(steps: Vec<Step>, ended: usize, end: End) {
    let mut world = World::new().await;
    for step in &steps {
        world.take(step).await;
    }
    let status = world.end(end).await;
    let outcome = world.server.look_up(&ask(1, ""), 0).await.outcome(200, status);
    let text = outcome["answer"]["text"].as_str().unwrap_or_default();
    assert!(text == world.said, "all that was said is kept");
    for number in 0..ended {
        let at = text.floor_char_boundary(text.len() * number / ended);
        world.come(&text[..at]).await;
    }
    for stream in world.watchers {
        // What was thought before it settled is told by each stream that is read to its end.
        let told = stream.rest().await;
        told.ended(status, text);
        assert_eq!(
            told.reasoning,
            outcome["answer"]["reasoning"].as_str().unwrap_or_default().to_owned()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn cuts_offsets_and_watchers_join_to_the_same_bytes(
        steps in prop::collection::vec(step(), 1..40),
        ended in 0..4_usize,
        end in prop::sample::select(vec![End::Whole, End::Failed, End::Cancelled]),
    ) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.unwrap().block_on(play(steps, ended, end));
    }
}
