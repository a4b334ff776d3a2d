//! Talking to a server, whether over a socket or without one. Not here: what is said.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::ask::Ask;

/// How long an ask may take to its end once nothing fails any more.
const PEACE: Duration = Duration::from_mins(2);

/// A whole reply.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) has_retry_after: bool,
    pub(crate) json: Value,
}

/// A way to a server.
pub(crate) trait Talk: Clone + Send + Sync + 'static {
    /// Sends a request; nothing comes back where the server goes away.
    fn send(
        &self,
        method: &str,
        target: &str,
        wait: u64,
        body: &Value,
    ) -> impl Future<Output = Option<Reply>> + Send;

    fn ask(&self, ask: &Ask, wait: u64) -> impl Future<Output = Option<Reply>> + Send {
        self.send("POST", "/api/v1/ask", wait, ask.body())
    }

    fn look_up(&self, ask: &Ask, wait: u64) -> impl Future<Output = Option<Reply>> + Send {
        let path = format!("/api/v1/requests/{}?conversation_id={}", ask.id(), ask.conversation());
        async move { self.send("GET", &path, wait, &Value::Null).await }
    }

    /// Looks up until the ask has an end, or is unknown.
    ///
    /// # Panics
    /// If that takes longer than [`PEACE`]: then nobody is running it.
    fn look_up_at_last(&self, ask: &Ask) -> impl Future<Output = Reply> + Send {
        async move {
            let deadline = Instant::now() + PEACE;
            loop {
                let reply = self.look_up(ask, 20).await.expect("the server is up");
                let is_unknown = reply.json["state"] == "unknown";
                if reply.json["status"] != "pending" || is_unknown {
                    return reply;
                }
                assert!(Instant::now() < deadline, "nobody runs {}", reply.json);
            }
        }
    }

    /// Cancels an ask; `brings` it along.
    fn cancel(&self, ask: &Ask, brings: bool) -> impl Future<Output = Option<Reply>> + Send {
        let path = format!("/api/v1/requests/{}/cancel", ask.id());
        let mut body = json!({"conversation_id": ask.conversation()});
        if brings {
            body["ask"] = ask.body().clone();
        }
        async move { self.send("POST", &path, 0, &body).await }
    }
}
