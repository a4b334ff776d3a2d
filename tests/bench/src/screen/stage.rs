//! Browser, line and server: one of each, with a round trip on the line.

use std::time::Duration;

use holdfast_tests::PATIENCE;
use holdfast_tests::browser::{Browser, Role};
use holdfast_tests::client::Request;
use holdfast_tests::proxy::{Fault, FaultProxy, Line, Rule};
use holdfast_tests::server::{Holdfast, Start};
use serde_json::Value;
use tokio::time::timeout;

use crate::failure::{Context as _, Result};

/// Between two looks at whether the archive has an answer.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The page of a Holdfast at the end of a line.
pub(crate) struct Stage {
    pub(crate) browser: Browser,
    pub(crate) line: FaultProxy,
    holdfast: Holdfast,
}

impl Stage {
    /// Starts all of it, and returns once a question can be asked.
    pub(crate) async fn start(start: Start) -> Result<Self> {
        let holdfast = start.start().await;
        let line = FaultProxy::start(holdfast.address()).await.doing("start a line")?;
        let browser = Browser::start().await;
        browser.open(&line.url()).await;
        browser.control(Role::Textbox, "Question").await;
        browser.control(Role::Button, "Send").await;
        Ok(Self { browser, line, holdfast })
    }

    /// From now on every exchange takes one round trip more.
    pub(crate) fn far_away(&self, round_trip: Duration) {
        far_away(&self.line, round_trip);
    }

    /// What is under way is cut, and so is all that follows.
    pub(crate) async fn dead(&self) {
        self.line.clear_rules();
        self.line.rule(Rule::any(Fault::CutBeforeForward).always());
        self.line.line(Line::Cut);
        self.line.wait("nothing under way", |all| all.iter().all(|it| it.ended.is_some())).await;
        self.line.line(Line::Up);
    }

    /// The line is good again, but for its length.
    pub(crate) fn only_far_away(&self, round_trip: Duration) {
        self.line.clear_rules();
        self.far_away(round_trip);
    }

    /// Waits until the archive has the answer, not by way of the line.
    pub(crate) async fn archived(&self, request_id: &str, conversation_id: &str) -> Result<()> {
        let target = format!("/api/v1/requests/{request_id}?conversation_id={conversation_id}");
        let lookup = Request::new(self.holdfast.address(), "GET", &target);
        let is_settled = async || {
            let reply = lookup.send().await.map(|reply| reply.json());
            reply.is_ok_and(|it| it.get("status") == Some(&Value::from("completed")))
        };
        let settled = async {
            while !is_settled().await {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        timeout(PATIENCE, settled).await.doing("see the answer archived")
    }
}

/// Every exchange on this line takes one round trip more: all of it on the way there, which is the
/// same to whoever waits for the reply.
pub(crate) fn far_away(line: &FaultProxy, round_trip: Duration) {
    if !round_trip.is_zero() {
        line.rule(Rule::any(Fault::DelayRequest(round_trip)).always());
    }
}
