//! Talking to a server, whether over a socket or without one. Not here: what is said.

use serde_json::{Value, json};

use crate::ask::Ask;

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
