//! The requests about one ask that have one reply: ask, look up, cancel.

use holdfast_protocol::reply::{Exchange, Verdict, classify};
use holdfast_recovery::Sending;

use super::{Abort, fetch};

/// Carries out one request of recovery's and says what its reply means: a lookup in place of a stream.
/// `wait` may be less than recovery allowed.
pub(crate) async fn exchange(sending: &Sending, wait: u32, abort: &Abort) -> Verdict {
    let Sending { request_id, conversation_id, kind, .. } = *sending;
    let fetched = match (kind, &sending.ask, &sending.cancel) {
        (Exchange::Ask | Exchange::Resubmission, Some(ask), _) => {
            fetch::post("api/v1/ask", &ask.to_json(), wait, abort).await
        }
        (Exchange::Cancel, _, Some(cancel)) => {
            let path = format!("api/v1/requests/{request_id}/cancel");
            fetch::post(&path, &cancel.to_json(), wait, abort).await
        }
        _ => {
            let path = format!("api/v1/requests/{request_id}");
            fetch::get(&path, from_there(sending), wait, abort).await
        }
    };
    classify(request_id, conversation_id, kind, fetch::received(fetched.as_ref(), abort))
}

/// The query of what is read of an ask: whose it is, and from where to go on.
pub(super) fn from_there(sending: &Sending) -> Vec<(&'static str, String)> {
    let conversation_id = sending.conversation_id.to_string();
    vec![("conversation_id", conversation_id), ("after", sending.after.to_string())]
}
