//! The body of a call. What is sent is what every compatible server takes; nothing is sent again
//! without a field that was refused.

use serde::Serialize;
use serde_json::{Value, json};

use super::endpoint::Endpoint;
use crate::provider::{Call, Role};

/// The body of `POST chat/completions`.
pub(super) fn body(
    endpoint: &Endpoint,
    call: &Call,
    model: &str,
    tokens_most: Option<u32>,
) -> Value {
    let messages: Vec<_> = call
        .messages
        .iter()
        .map(|message| Message { role: role(message.role), content: &message.content })
        .collect();
    let mut body = json!({ "model": model, "messages": messages, "stream": true });
    if let Value::Object(fields) = &mut body {
        if endpoint.takes_stream_options() {
            fields.insert("stream_options".to_owned(), json!({ "include_usage": true }));
        }
        if let Some(tokens) = tokens_most {
            fields.insert(endpoint.bound_field().to_owned(), json!(tokens));
        }
    }
    body
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

const fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::provider::Message as CallMessage;

    fn call() -> Call {
        let message = |role, content: &str| CallMessage { role, content: content.to_owned() };
        Call {
            idempotency_key: "k".to_owned(),
            model: None,
            messages: vec![
                message(Role::System, "Be brief."),
                message(Role::User, "Hi \"there\"\n🌍"),
                message(Role::Assistant, "Hello."),
                message(Role::User, "Bye"),
            ],
            language: None,
        }
    }

    #[test]
    fn a_compatible_server_gets_what_it_knows() {
        let endpoint = Endpoint::new("http://127.0.0.1:1").unwrap();
        assert_eq!(
            body(&endpoint, &call(), "m", Some(64)),
            json!({
                "model": "m",
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": "Hi \"there\"\n🌍"},
                    {"role": "assistant", "content": "Hello."},
                    {"role": "user", "content": "Bye"},
                ],
                "stream": true,
                "stream_options": {"include_usage": true},
                "max_tokens": 64,
            })
        );
    }

    #[test]
    fn nothing_is_sent_that_a_host_is_known_to_refuse() {
        let hosted = Endpoint::new(super::super::endpoint::HOSTED).unwrap();
        let sent = body(&hosted, &call(), "m", Some(64));
        assert_eq!(sent.get("max_completion_tokens"), Some(&json!(64)));
        assert_eq!(sent.get("max_tokens"), None);
        let strict = Endpoint::new("https://api.mistral.ai").unwrap();
        let sent = body(&strict, &call(), "m", None);
        assert_eq!(sent.get("stream_options"), None);
        assert_eq!(sent.get("max_tokens"), None);
    }
}
