//! The stream of one ask, read as it comes.
//!
//! Not here: what an event or an end means for the ask.

use holdfast_protocol::event_stream::{MEDIA_TYPE, Reader, is_event_stream};
use holdfast_protocol::following::{EVENT_BYTES, Followed};
use holdfast_protocol::reply::{Verdict, classify};
use holdfast_recovery::Sending;
use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStream, ReadableStreamDefaultReader};

use super::exchange::from_there;
use super::{Abort, fetch};

/// How an exchange ended.
#[derive(Debug, PartialEq)]
pub(crate) enum Ended {
    /// With a reply, or with none.
    Said(Verdict),
    /// The head of a stream came, and then nothing.
    Buffered,
    /// With the outcome, which was told.
    Told,
}

/// Tells what a stream brings, until it ends. What comes instead of a stream is classified.
pub(crate) async fn events(sending: &Sending, abort: &Abort, tell: &dyn Fn(Followed)) -> Ended {
    let path = format!("api/v1/requests/{}/events", sending.request_id);
    let response = fetch::open(&path, from_there(sending), MEDIA_TYPE, abort).await;
    let stream = response.as_ref().and_then(|response| {
        let content_type = fetch::header(response, "content-type")?;
        (response.status() == 200 && is_event_stream(&content_type)).then(|| response.body())
    });
    let Some(stream) = stream else {
        let fetched = fetch::read(response).await;
        abort.finish();
        let received = fetch::received(fetched.as_ref(), abort);
        let Sending { request_id, conversation_id, kind, .. } = *sending;
        return Ended::Said(classify(request_id, conversation_id, kind, received));
    };
    let ended = read(stream, sending, abort, tell).await;
    // Where it was not read to its end, nobody wants the rest.
    abort.abort();
    ended
}

async fn read(
    stream: Option<ReadableStream>,
    sending: &Sending,
    abort: &Abort,
    tell: &dyn Fn(Followed),
) -> Ended {
    let Some(stream) = stream else { return Ended::Said(Verdict::STREAM_BROKEN) };
    abort.extend(Sending::FIRST_BYTE);
    let source: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    let (mut reader, mut events, mut is_silent) = (Reader::new(EVENT_BYTES), Vec::new(), true);
    loop {
        let Ok(chunk) = JsFuture::from(source.read()).await else {
            let timed_out = abort.timed_out();
            return if timed_out && is_silent {
                Ended::Buffered
            } else {
                Ended::Said(Verdict::Unknown { timed_out, replied: false })
            };
        };
        let member = |name: &str| Reflect::get(&chunk, &name.into()).unwrap_or(JsValue::UNDEFINED);
        if member("done").is_truthy() {
            return Ended::Said(Verdict::STREAM_ENDED);
        }
        let bytes = Uint8Array::new(&member("value")).to_vec();
        is_silent &= bytes.is_empty();
        abort.extend(sending.deadline);
        let read = reader.push(&bytes, &mut events);
        // An event that is not known is a newer server's; one that is missed shows in the next.
        for followed in events.drain(..).filter_map(|event| Followed::from_event(&event)) {
            let is_end = matches!(followed, Followed::Outcome(_));
            tell(followed);
            if is_end {
                return Ended::Told;
            }
        }
        if read.is_err() {
            return Ended::Said(Verdict::STREAM_BROKEN);
        }
    }
}
