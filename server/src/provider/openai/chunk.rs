//! The fields of a chunk of a stream, or of a whole reply: what is looked for, and under which names.
//!
//! Lenient on purpose: a field that is absent, null or of another type says nothing, and no field is
//! needed. Compatible servers differ in all of them. Whether what was said makes an answer is decided
//! in [`super::answer`].

use holdfast_protocol::Finish;
use serde_json::Value;

use crate::provider::Usage;

/// The longest model name taken from a reply, in characters.
const MODEL_CHARS: usize = 200;

/// What an end is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A reason that an outcome has a word for.
    Known(Finish),
    /// The model wants a tool called.
    Tool,
    /// Another reason.
    Other,
}

/// The message of an error that stands in the place of a chunk, or of a refusal's body; `Some("")`
/// if it is an error without words.
pub(super) fn error(value: &Value) -> Option<&str> {
    // Google wraps an error in an array.
    let value = value.as_array().and_then(|values| values.first()).unwrap_or(value);
    let error = match value.get("error") {
        // vLLM's older form: the fields of the error beside `"object": "error"`.
        None if value.get("object").and_then(Value::as_str) == Some("error") => value,
        None => return None,
        Some(error) => error,
    };
    match error {
        Value::String(message) if !message.is_empty() => Some(message),
        Value::Object(fields) if !fields.is_empty() => Some(message(error).unwrap_or_default()),
        Value::Bool(true) => Some(message(value).unwrap_or_default()),
        _ => None,
    }
}

/// The words of something that is known to be an error.
pub(super) fn message(value: &Value) -> Option<&str> {
    let value = value.as_array().and_then(|values| values.first()).unwrap_or(value);
    match value {
        Value::String(text) => Some(text.as_str()),
        Value::Object(_) => ["message", "error", "detail", "msg", "error_description", "title"]
            .iter()
            .find_map(|name| value.get(name).and_then(message)),
        _ => None,
    }
    .filter(|text| !text.trim().is_empty())
}

/// The error's own short name, under whichever field.
pub(super) fn error_names(value: &Value) -> impl Iterator<Item = &str> {
    let error = value.get("error").unwrap_or(value);
    ["code", "type"].into_iter().filter_map(|name| error.get(name).and_then(Value::as_str))
}

/// The model that answers, as it is called there.
pub(super) fn model(chunk: &Value) -> Option<String> {
    let name = chunk.get("model").and_then(Value::as_str)?.trim();
    (!name.is_empty())
        .then(|| name.chars().filter(|char| !char.is_control()).take(MODEL_CHARS).collect())
}

/// What was counted.
pub(super) fn usage(chunk: &Value) -> Option<Usage> {
    let usage = chunk.get("usage")?;
    let count = |names: [&str; 2]| names.iter().find_map(|name| usage.get(name)?.as_u64());
    let usage = Usage {
        input_tokens: count(["prompt_tokens", "input_tokens"]),
        output_tokens: count(["completion_tokens", "output_tokens"]),
    };
    (usage != Usage::default()).then_some(usage)
}

/// Whether there is a list of choices at all, which is what makes a reply one of this dialect.
pub(super) fn has_choices(chunk: &Value) -> bool {
    chunk.get("choices").is_some_and(Value::is_array)
}

/// The choice that is read: one was asked for, so the first one, unless it says it is another.
pub(super) fn choice(chunk: &Value) -> Option<&Value> {
    chunk
        .get("choices")?
        .as_array()?
        .iter()
        .find(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0)
}

/// Why the model stopped, if it did. What is no word (a number, null, nothing) says nothing.
pub(super) fn end(choice: &Value) -> Option<End> {
    let reason = choice.get("finish_reason")?.as_str()?.trim().to_ascii_lowercase();
    Some(match reason.as_str() {
        "" | "null" | "none" => return None,
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => End::Known(Finish::Stop),
        "length" | "max_tokens" | "max_output_tokens" => End::Known(Finish::Length),
        "content_filter" | "safety" | "recitation" => End::Known(Finish::Filtered),
        "tool_calls" | "tool_use" | "function_call" => End::Tool,
        _ => End::Other,
    })
}

/// The text and the reasoning in a `delta` or a `message`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// Of the answer.
    pub text: String,
    /// Of the reasoning.
    pub reasoning: String,
}

/// What a `delta` or a `message` says.
pub(super) fn said(message: &Value) -> Said {
    let mut said = Said::default();
    if let Some(content) = message.get("content") {
        collect(content, &mut said, false, 0);
    }
    // A refusal is what the model says to whoever asks, in the place of the answer.
    if let Some(refusal) = message.get("refusal").and_then(Value::as_str) {
        said.text.push_str(refusal);
    }
    // Some servers send the same under both names.
    let reasoning = ["reasoning_content", "reasoning"]
        .iter()
        .find_map(|name| message.get(name)?.as_str().filter(|text| !text.is_empty()));
    said.reasoning.push_str(reasoning.unwrap_or_default());
    said
}

/// Parts may hold parts (`{"type": "thinking", "thinking": [{"type": "text", …}]}`); deeper than this
/// nobody nests them.
const DEPTH_MOST: u32 = 4;

fn collect(content: &Value, said: &mut Said, is_thinking: bool, depth: u32) {
    match content {
        Value::String(text) if is_thinking => said.reasoning.push_str(text),
        Value::String(text) => said.text.push_str(text),
        Value::Array(parts) if depth < DEPTH_MOST => {
            for part in parts {
                collect(part, said, is_thinking, depth + 1);
            }
        }
        Value::Object(part) if depth < DEPTH_MOST => {
            let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
            let is_thinking = is_thinking || matches!(kind, "thinking" | "reasoning");
            if let Some(inner) =
                ["text", "thinking", "reasoning", "refusal"].iter().find_map(|name| part.get(*name))
            {
                collect(inner, said, is_thinking, depth + 1);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(message: &Value) -> (String, String) {
        let said = said(message);
        (said.text, said.reasoning)
    }

    fn pair(text: &str, reasoning: &str) -> (String, String) {
        (text.to_owned(), reasoning.to_owned())
    }

    #[test]
    fn content_is_read_in_every_form() {
        assert_eq!(words(&json!({"content": "a"})), pair("a", ""));
        assert_eq!(words(&json!({"content": null})), pair("", ""));
        assert_eq!(words(&json!({"content": 7, "role": "assistant"})), pair("", ""));
        assert_eq!(words(&json!({})), pair("", ""));
        assert_eq!(words(&json!(null)), pair("", ""));
        assert_eq!(
            words(
                &json!({"content": [{"type": "text", "text": "a"}, "b", {"text": "c"}, null, {"type": "image_url"}]})
            ),
            pair("abc", "")
        );
        assert_eq!(words(&json!({"content": null, "refusal": "no"})), pair("no", ""));
    }

    #[test]
    fn reasoning_is_kept_apart() {
        assert_eq!(words(&json!({"content": "", "reasoning_content": "r"})), pair("", "r"));
        assert_eq!(words(&json!({"content": null, "reasoning": "r"})), pair("", "r"));
        assert_eq!(words(&json!({"reasoning": "r", "reasoning_content": "r"})), pair("", "r"));
        assert_eq!(words(&json!({"reasoning": {"effort": "low"}, "content": "a"})), pair("a", ""));
        assert_eq!(
            words(&json!({"content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "r"}]}, {"type": "text", "text": "a"}
            ]})),
            pair("a", "r")
        );
    }

    #[test]
    fn parts_without_end_are_left_alone() {
        let mut parts = json!("deep");
        for _ in 0..100 {
            parts = json!([parts]);
        }
        assert_eq!(words(&json!({"content": parts})), pair("", ""));
    }

    #[test]
    fn the_choice_is_found_or_not_missed() {
        assert_eq!(choice(&json!({})), None);
        assert_eq!(choice(&json!({"choices": null})), None);
        assert_eq!(choice(&json!({"choices": {"0": 1}})), None);
        assert_eq!(choice(&json!({"choices": []})), None);
        assert_eq!(choice(&json!({"choices": [{"index": 1}]})), None);
        assert_eq!(
            choice(&json!({"choices": [{"index": 1}, {"index": 0, "a": 1}]})),
            Some(&json!({"index": 0, "a": 1}))
        );
        assert_eq!(choice(&json!({"choices": [{"index": "x"}]})), Some(&json!({"index": "x"})));
    }

    #[test]
    fn only_a_word_is_a_reason() {
        for (reason, expected) in [
            (json!("stop"), Some(End::Known(Finish::Stop))),
            (json!("STOP"), Some(End::Known(Finish::Stop))),
            (json!("length"), Some(End::Known(Finish::Length))),
            (json!("content_filter"), Some(End::Known(Finish::Filtered))),
            (json!("tool_calls"), Some(End::Tool)),
            (json!("whatever"), Some(End::Other)),
            (json!(""), None),
            (json!(null), None),
            (json!(0), None),
            (json!(true), None),
            (json!({"type": "stop"}), None),
        ] {
            assert_eq!(end(&json!({"finish_reason": reason.clone()})), expected, "{reason}");
        }
        assert_eq!(end(&json!({})), None);
    }

    #[test]
    fn usage_is_taken_where_it_says_something() {
        let both = Usage { input_tokens: Some(3), output_tokens: Some(4) };
        assert_eq!(
            usage(&json!({"usage": {"prompt_tokens": 3, "completion_tokens": 4}})),
            Some(both)
        );
        assert_eq!(usage(&json!({"usage": {"input_tokens": 3, "output_tokens": 4}})), Some(both));
        for nothing in [
            json!(null),
            json!({}),
            json!([]),
            json!({"prompt_tokens": -1, "completion_tokens": "4"}),
        ] {
            assert_eq!(usage(&json!({"usage": nothing.clone()})), None, "{nothing}");
        }
    }

    #[test]
    fn errors_are_told_from_chunks() {
        for (value, expected) in [
            (json!({"error": {"message": "m", "code": 500}}), Some("m")),
            (json!({"error": "m"}), Some("m")),
            (json!({"error": {"code": 500}}), Some("")),
            (json!({"error": true, "message": "m"}), Some("m")),
            (json!({"object": "error", "message": "m"}), Some("m")),
            (json!([{"error": {"message": "m"}}]), Some("m")),
            (json!({"error": {"message": {"detail": [{"msg": "m"}]}}}), Some("m")),
            (json!({"error": null, "choices": []}), None),
            (json!({"error": {}, "choices": []}), None),
            (json!({"error": "", "choices": []}), None),
            (json!({"error": false}), None),
            (json!({"choices": [{"error": "x"}]}), None),
        ] {
            assert_eq!(error(&value), expected, "{value}");
        }
    }

    #[test]
    fn the_words_of_a_refusal_are_found() {
        for value in [
            json!({"error": {"message": "m"}}),
            json!({"message": "m"}),
            json!({"detail": "m"}),
            json!({"detail": [{"loc": ["body"], "msg": "m"}]}),
            json!({"title": "m", "status": 400}),
            json!("m"),
        ] {
            assert_eq!(message(&value), Some("m"), "{value}");
        }
        assert_eq!(message(&json!({"ok": 1})), None);
    }
}
