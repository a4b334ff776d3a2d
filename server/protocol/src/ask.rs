//! The body of an ask and of a cancel, and what their fields may be.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::limits::{LANGUAGE_CHARS, MODEL_CHARS};
use crate::members::{FromJson, Members, ObjectWriter, Unreadable, deserialize_from_json};
use crate::{Code, ConversationId, Question, RequestId, system_prompt};

/// The body of `POST api/v1/ask`, as sent and before defaults: an absent field stays absent, so
/// that sending the same ask again sends the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AskBody {
    /// The ask's identity.
    pub request_id: RequestId,
    /// The conversation it belongs to.
    pub conversation_id: ConversationId,
    /// The question, as sent; [`Question::parse`] makes what is stored.
    pub question: String,
    /// Remembered answers must be fresh (default: no).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<bool>,
    /// The answer may be captured (default: yes).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remember: Option<bool>,
    /// BCP 47 tag of the language to answer in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The model to ask, one of the session's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The settled ask that is repeated on purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<RequestId>,
    /// What the conversation is to have put first in what a provider is shown, if this ask brings it into
    /// being; a conversation that is there keeps its own. It is no part of what the ask is: another one
    /// makes no other ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
}

/// The body of `POST api/v1/requests/{request_id}/cancel`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CancelBody {
    /// The conversation of the ask.
    pub conversation_id: ConversationId,
    /// The ask's own body, so that an ask cancelled before it arrived keeps its question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<AskBody>,
}

/// Why a body is none: a code, and a sentence that names the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskError {
    /// The code of the problem.
    pub code: Code,
    /// The sentence.
    pub detail: String,
}

impl AskError {
    fn field(name: &str, what: impl fmt::Display) -> Self {
        Self { code: Code::InvalidField, detail: format!("`{name}`: {what}") }
    }
}

impl AskBody {
    /// Reads the fields of a JSON value and checks each of them. Unknown fields are ignored, `null`
    /// counts as absent.
    ///
    /// # Errors
    /// The first field that is missing, of the wrong type or out of bounds.
    pub fn from_json(value: &Value) -> Result<Self, AskError> {
        let fields = object(value)?;
        let body = Self {
            request_id: id(fields, "request_id", Code::InvalidRequestId)?,
            conversation_id: id(fields, "conversation_id", Code::InvalidConversationId)?,
            question: required_text(fields, "question")?.to_owned(),
            current: flag(fields, "current")?,
            remember: flag(fields, "remember")?,
            language: text(fields, "language")?.map(str::to_owned),
            model: text(fields, "model")?.map(str::to_owned),
            retry_of: match text(fields, "retry_of")? {
                Some(text) => Some(text.parse().map_err(|_| AskError {
                    code: Code::InvalidRetryOf,
                    detail: "`retry_of` must be a UUID in lower-case hyphenated form.".to_owned(),
                })?),
                None => None,
            },
            system_prompt: match text(fields, "system_prompt")? {
                Some(text) => Some(
                    system_prompt(text).map_err(|error| AskError::field("system_prompt", error))?,
                ),
                None => None,
            },
        };
        Question::parse(&body.question).map_err(|error| AskError::field("question", error))?;
        if let Some(language) = &body.language {
            check_language(language)?;
        }
        if let Some(model) = &body.model {
            check_model(model)?;
        }
        Ok(body)
    }
}

deserialize_from_json!(AskBody);

/// As it was sent, by a page that had checked it: for the fields alone, without what
/// [`AskBody::from_json`] says about each.
impl FromJson for AskBody {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let members = Members::of(value)?;
        Ok(Self {
            request_id: members.parsed("request_id")?.ok_or(Unreadable)?,
            conversation_id: members.parsed("conversation_id")?.ok_or(Unreadable)?,
            question: members.string("question")?.ok_or(Unreadable)?,
            current: members.flag("current")?,
            remember: members.flag("remember")?,
            language: members.string("language")?,
            model: members.string("model")?,
            retry_of: members.parsed("retry_of")?,
            system_prompt: members.string("system_prompt")?,
        })
    }
}

impl AskBody {
    /// The JSON of the body, the same each time.
    pub fn to_json(&self) -> Value {
        ObjectWriter::default()
            .with_text("request_id", &self.request_id)
            .with_text("conversation_id", &self.conversation_id)
            .with_text("question", &self.question)
            .with("current", self.current.map(Value::Bool))
            .with("remember", self.remember.map(Value::Bool))
            .with("language", self.language.clone().map(Value::String))
            .with("model", self.model.clone().map(Value::String))
            .with("retry_of", self.retry_of.map(|id| Value::String(id.to_string())))
            .with("system_prompt", self.system_prompt.clone().map(Value::String))
            .finish()
    }
}

impl CancelBody {
    /// The JSON of the body.
    pub fn to_json(&self) -> Value {
        ObjectWriter::default()
            .with_text("conversation_id", &self.conversation_id)
            .with("ask", self.ask.as_ref().map(AskBody::to_json))
            .finish()
    }

    /// Reads the fields of a JSON value and checks each of them.
    ///
    /// # Errors
    /// The first field that is missing, of the wrong type or out of bounds; an `ask` whose ids are
    /// not the cancel's own.
    pub fn from_json(request_id: RequestId, value: &Value) -> Result<Self, AskError> {
        let fields = object(value)?;
        let conversation_id = id(fields, "conversation_id", Code::InvalidConversationId)?;
        let ask = match fields.get("ask") {
            None | Some(Value::Null) => None,
            Some(ask @ Value::Object(_)) => Some(AskBody::from_json(ask)?),
            Some(_) => return Err(AskError::field("ask", "must be an object.")),
        };
        if let Some(ask) = &ask
            && (ask.request_id, ask.conversation_id) != (request_id, conversation_id)
        {
            return Err(AskError::field("ask", "its ids are not those of the ask to cancel."));
        }
        Ok(Self { conversation_id, ask })
    }
}

fn object(value: &Value) -> Result<&Map<String, Value>, AskError> {
    value.as_object().ok_or_else(|| AskError {
        code: Code::InvalidJson,
        detail: "The body must be a JSON object.".to_owned(),
    })
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, AskError> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(AskError::field(name, "must be a string.")),
    }
}

fn required_text<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<&'a str, AskError> {
    text(fields, name)?.ok_or_else(|| AskError::field(name, "is missing."))
}

fn flag(fields: &Map<String, Value>, name: &str) -> Result<Option<bool>, AskError> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(AskError::field(name, "must be true or false.")),
    }
}

/// An id that is missing or of the wrong type has the same code as one that is misspelt.
fn id<T: std::str::FromStr>(
    fields: &Map<String, Value>,
    name: &str,
    code: Code,
) -> Result<T, AskError> {
    fields.get(name).and_then(Value::as_str).and_then(|text| text.parse().ok()).ok_or_else(|| {
        AskError { code, detail: format!("`{name}` must be a UUID in lower-case hyphenated form.") }
    })
}

/// Whether a text has the shape of a BCP 47 tag (RFC 5646 § 2.1): subtags of 1 to 8 letters or
/// digits, at most [`LANGUAGE_CHARS`] of all. Whether a tag is registered is nobody's business here.
pub fn is_language_tag(text: &str) -> bool {
    text.len() <= LANGUAGE_CHARS
        && text.split('-').all(|subtag| {
            (1..=8).contains(&subtag.len()) && subtag.bytes().all(|b| b.is_ascii_alphanumeric())
        })
}

fn check_language(language: &str) -> Result<(), AskError> {
    if is_language_tag(language) {
        Ok(())
    } else {
        Err(AskError::field("language", "must be a language tag such as `en` or `pt-BR`."))
    }
}

fn check_model(model: &str) -> Result<(), AskError> {
    if model.is_empty()
        || model.chars().count() > MODEL_CHARS
        || model.chars().any(char::is_control)
    {
        return Err(AskError::field(
            "model",
            format_args!("must be 1 to {MODEL_CHARS} characters without control characters."),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;

    fn ask(change: impl FnOnce(&mut Map<String, Value>)) -> Result<AskBody, AskError> {
        let mut value = json!({
            "request_id": "018f2b6e-7c11-7cc3-9d5a-0123456789ab",
            "conversation_id": "018f2b6e-7c11-7cc3-9d5a-0123456789ac",
            "question": "Why?",
        });
        change(value.as_object_mut().unwrap());
        AskBody::from_json(&value)
    }

    #[test]
    fn an_ask_comes_back_from_the_wire_as_it_was_sent() {
        let sent = ask(|fields| {
            fields.insert("remember".into(), json!(true));
            fields.insert("language".into(), json!("pt-BR"));
        })
        .unwrap();
        let wire = serde_json::to_value(&sent).unwrap();
        assert_eq!(AskBody::from_json(&wire).unwrap(), sent);
        assert!(wire.get("current").is_none(), "an absent field stays absent: {wire}");
    }

    #[test]
    fn what_is_written_by_hand_is_what_serde_writes() {
        let whole = ask(|fields| {
            fields.insert("current".into(), json!(false));
            fields.insert("remember".into(), json!(true));
            fields.insert("language".into(), json!("en"));
            fields.insert("model".into(), json!("m"));
            fields.insert("retry_of".into(), json!("018f2b6e-7c11-7cc3-9d5a-0123456789ad"));
        });
        for body in [ask(|_| {}).unwrap(), whole.unwrap()] {
            assert_eq!(body.to_json(), serde_json::to_value(&body).unwrap());
            let conversation_id = body.conversation_id;
            for ask in [None, Some(body)] {
                let cancel = CancelBody { conversation_id, ask };
                assert_eq!(cancel.to_json(), serde_json::to_value(&cancel).unwrap());
            }
        }
    }

    #[test]
    fn unknown_fields_and_null_are_no_fault() {
        let read = ask(|fields| {
            fields.insert("colour".into(), json!("blue"));
            fields.insert("model".into(), Value::Null);
        });
        assert_eq!(read.unwrap().model, None);
    }

    #[test]
    fn each_field_has_its_own_refusal() {
        for (name, value, code) in [
            ("request_id", Value::Null, Code::InvalidRequestId),
            ("request_id", json!(7), Code::InvalidRequestId),
            ("request_id", json!("018F2B6E-7C11-7CC3-9D5A-0123456789AB"), Code::InvalidRequestId),
            ("conversation_id", json!("x"), Code::InvalidConversationId),
            ("question", Value::Null, Code::InvalidField),
            ("question", json!(["a"]), Code::InvalidField),
            ("question", json!(" \n"), Code::InvalidField),
            ("question", json!("a\0"), Code::InvalidField),
            ("current", json!("yes"), Code::InvalidField),
            ("remember", json!(1), Code::InvalidField),
            ("language", json!("en_US"), Code::InvalidField),
            ("language", json!("a".repeat(36)), Code::InvalidField),
            ("language", json!("en--x"), Code::InvalidField),
            ("model", json!(""), Code::InvalidField),
            ("model", json!("a\nb"), Code::InvalidField),
            ("retry_of", json!("first"), Code::InvalidRetryOf),
        ] {
            let error = ask(|fields| {
                fields.insert(name.into(), value.clone());
            })
            .unwrap_err();
            assert_eq!(error.code, code, "{name} = {value}");
            assert!(error.detail.contains(name), "{} names {name}", error.detail);
        }
    }

    #[test]
    fn a_cancel_with_another_asks_body_is_refused() {
        let body = ask(|_| {}).unwrap();
        let other: RequestId = "018f2b6e-7c11-7cc3-9d5a-0123456789ff".parse().unwrap();
        let value = json!({"conversation_id": body.conversation_id, "ask": body});
        assert!(CancelBody::from_json(body.request_id, &value).is_ok());
        assert_eq!(CancelBody::from_json(other, &value).unwrap_err().code, Code::InvalidField);
        for wrong in [json!("x"), json!([]), json!(1)] {
            let value = json!({"conversation_id": body.conversation_id, "ask": wrong});
            let error = CancelBody::from_json(body.request_id, &value).unwrap_err();
            assert_eq!(error.code, Code::InvalidField, "{wrong}");
        }
    }
}
