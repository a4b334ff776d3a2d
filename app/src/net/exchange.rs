//! The requests about one ask: ask, look up, cancel.

use holdfast_protocol::reply::{Exchange, Verdict, classify};
use holdfast_recovery::Sending;

use super::{Abort, fetch};

/// Carries out one request of recovery's and says what its reply means. `wait` may be less than
/// recovery allowed.
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
            let conversation = Some(("conversation_id", conversation_id.to_string()));
            fetch::get(&format!("api/v1/requests/{request_id}"), conversation, wait, abort).await
        }
    };
    classify(request_id, conversation_id, kind, fetch::received(fetched.as_ref(), abort))
}
