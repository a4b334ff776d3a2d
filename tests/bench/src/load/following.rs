//! Following: asks that are answered at a model's pace, each watched by so many.

use std::time::Instant;

use futures_util::future::try_join_all;
use holdfast_protocol::event_stream::Reader;
use holdfast_protocol::following::{EVENT_BYTES, Followed};
use holdfast_tests::client::Request;
use uuid::Uuid;

use super::Seen;
use crate::arguments::Load;
use crate::failure::{Context as _, Failure, Result};
use crate::ids;

/// An ask that was accepted.
struct Ask {
    request: Uuid,
    conversation: Uuid,
}

/// Asks everything, follows it to its end, and returns once all of it is known to have come. The times
/// are those of the asks, and `body` is the text of one.
pub(super) async fn run(load: &Load) -> Result<Seen> {
    let begun = Instant::now();
    let bodies = try_join_all((0..load.clients).map(|_| ask_and_follow(load))).await?;
    let body = bodies.iter().copied().max().unwrap_or_default();
    if bodies.iter().any(|text| *text != body) {
        return Err(Failure::new("answers of one length came in several"));
    }
    let seconds = begun.elapsed().as_secs_f64();
    Seen::of(vec![seconds * 1000.0; bodies.len()], seconds, body)
}

async fn ask_and_follow(load: &Load) -> Result<usize> {
    let ask = ask(load).await?;
    let texts = try_join_all((0..load.watchers).map(|_| follow(load, &ask))).await?;
    let text = settled(load, &ask).await?;
    if texts.iter().any(|followed| *followed != text) {
        return Err(Failure::new("a stream told another text than is in the archive"));
    }
    Ok(text.len())
}

async fn ask(load: &Load) -> Result<Ask> {
    let ask = Ask { request: ids::fresh(), conversation: ids::fresh() };
    let body = serde_json::json!({
        "request_id": ask.request.to_string(),
        "conversation_id": ask.conversation.to_string(),
        "question": "?",
    });
    let request = Request::new(load.address, "POST", "/api/v1/ask").json(&body);
    let answer = request.header("Prefer", "wait=0").send().await.doing("ask")?;
    match answer.status() {
        200 | 202 => Ok(ask),
        status => Err(Failure::new(format!("an ask got {status}: {}", answer.text()))),
    }
}

impl Ask {
    fn target(&self, route: &str) -> String {
        format!("/api/v1/requests/{}{route}?conversation_id={}", self.request, self.conversation)
    }
}

/// Waits for the end without watching, and gives the text.
async fn settled(load: &Load, ask: &Ask) -> Result<String> {
    loop {
        let request = Request::new(load.address, "GET", &ask.target(""));
        let answer = request.header("Prefer", "wait=25").send().await.doing("look an ask up")?;
        if answer.status() == 200 {
            let outcome = answer.json();
            let text = outcome.pointer("/answer/text").and_then(|text| text.as_str());
            return Ok(text.doing("find an answer in an outcome")?.to_owned());
        }
    }
}

/// Follows to the end, and gives the text.
async fn follow(load: &Load, ask: &Ask) -> Result<String> {
    let request = Request::new(load.address, "GET", &ask.target("/events"));
    let mut connection = request.open().await.doing("follow an ask")?;
    connection.send(&request.bytes()).await.doing("follow an ask")?;
    let head = connection.reply_head().await.doing("follow an ask")?;
    let mut body = connection.body(&head, false);
    let (mut reader, mut text) = (Reader::new(EVENT_BYTES), String::new());
    while let Some(bytes) = connection.piece(&mut body).await.doing("read a stream")? {
        let mut events = Vec::new();
        reader.push(&bytes, &mut events).map_err(|error| Failure::new(format!("{error:?}")))?;
        for event in &events {
            match Followed::from_event(event) {
                Some(Followed::Delta { text: piece, .. }) => text.push_str(&piece),
                Some(Followed::Outcome(_)) => return Ok(text),
                Some(_) => {}
                None => return Err(Failure::new(format!("an event that is none: {event:?}"))),
            }
        }
    }
    Err(Failure::new("a stream ended without an outcome"))
}
