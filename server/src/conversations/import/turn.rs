//! A turn as an export has it, and what it must be to be kept.

use holdfast_protocol::limits::{ANSWER_BYTES, MODEL_CHARS};
use holdfast_protocol::{
    AskBody, ConversationId, Failure, FailureCode, Outcome, Question, Receipt, Status,
    is_language_tag,
};
use serde_json::{Map, Value};

use super::{Result, wrong};
use crate::journal::{Fingerprint, Terms, TranscriptTurn};

/// What an ask is told that was under way when it was exported.
const UNDER_WAY: &str = "This was still under way when the conversation was exported.";

/// Reads a turn of this conversation.
pub(super) fn read(value: &Value, conversation_id: ConversationId) -> Result<TranscriptTurn> {
    let Ok(mut outcome) = serde_json::from_value::<Outcome>(value.clone()) else {
        return wrong("it is no outcome, or one of its fields is of the wrong type.");
    };
    if outcome.conversation_id != conversation_id {
        return wrong("its `conversation_id` is another.");
    }
    let question = match outcome.question.as_deref().map(Question::parse) {
        None => return wrong("it has no `question`."),
        Some(Err(error)) => return wrong(error.to_string()),
        Some(Ok(question)) => question.into_string(),
    };
    outcome.question = Some(question);
    let Some(asked_at) = outcome.asked_at else { return wrong("it has no `asked_at`.") };
    if outcome.status == Status::Pending {
        outcome.status = Status::Interrupted;
        outcome.settled_at = Some(asked_at);
        outcome.error = Some(Failure {
            code: FailureCode::ServerRestarted,
            message: UNDER_WAY.to_owned(),
            retryable: true,
        });
        outcome.receipt = Some(Receipt { submissions: 1, ..Receipt::default() });
    }
    (outcome.state, outcome.queue, outcome.seq, outcome.retried_by) = (None, None, None, None);
    if outcome.settled_at.is_none() {
        return wrong("it has no `settled_at`.");
    }
    if outcome.retry_of == Some(outcome.request_id) {
        return wrong("it repeats itself.");
    }
    check_end(&outcome)?;
    check_receipt(&outcome)?;
    if let Some(answer) = &mut outcome.answer {
        if answer.offset != 0 {
            return wrong("its answer is not whole: it begins at an `offset`.");
        }
        answer.bytes = answer.text.len() as u64;
        if answer.text.len() > ANSWER_BYTES {
            return wrong(format!("its answer is longer than {ANSWER_BYTES} bytes."));
        }
        if answer.reasoning.as_ref().is_some_and(|reasoning| reasoning.len() > ANSWER_BYTES) {
            return wrong(format!("its reasoning is longer than {ANSWER_BYTES} bytes."));
        }
    }
    let (terms, fingerprint) = submitted(value.get("submitted"), &outcome)?;
    Ok(TranscriptTurn { outcome, terms, fingerprint })
}

/// The end fits its status.
fn check_end(outcome: &Outcome) -> Result<()> {
    let has_reason = outcome.error.as_ref().is_some_and(|error| !error.message.trim().is_empty());
    match outcome.status {
        Status::Completed if outcome.text().trim().is_empty() => {
            wrong("it was completed, and has no answer.")
        }
        Status::Completed | Status::Cancelled if outcome.error.is_some() => {
            wrong("it was completed or cancelled, and yet has an `error`.")
        }
        Status::Failed | Status::Interrupted if !has_reason => {
            wrong("it failed or was interrupted, and no `error` says why.")
        }
        _ => Ok(()),
    }
}

/// The receipt is one that Holdfast could have written.
fn check_receipt(outcome: &Outcome) -> Result<()> {
    let Some(receipt) = &outcome.receipt else { return wrong("it has no `receipt`.") };
    let was_called_off = outcome.status == Status::Cancelled && receipt.provider_calls == 0;
    if receipt.submissions == 0 && !was_called_off {
        return wrong("its `receipt` says that it was never sent, and yet it was run.");
    }
    let is_code = |code: &String| code.len() == 3 && code.bytes().all(|b| b.is_ascii_uppercase());
    let beyond = |count: Option<u64>| count.is_some_and(|count| i64::try_from(count).is_err());
    if receipt.provider_calls > 1 || receipt.provider_calls == 1 && receipt.provider.is_none() {
        return wrong("its `receipt` counts calls that Holdfast never makes.");
    }
    if receipt.cost_micros.is_some() != receipt.currency.is_some()
        || receipt.currency.as_ref().is_some_and(|code| !is_code(code))
    {
        return wrong("its `receipt` has a cost without a currency, or the reverse.");
    }
    let counts = [
        receipt.input_tokens,
        receipt.output_tokens,
        receipt.cost_micros,
        receipt.first_token_ms,
        receipt.run_ms,
    ];
    if counts.into_iter().any(beyond) {
        return wrong("a number in its `receipt` is too large to be kept.");
    }
    Ok(())
}

/// What an export says of the ask beside its outcome; without it, an ask that says no more than its
/// question.
fn submitted(value: Option<&Value>, outcome: &Outcome) -> Result<(Terms, Fingerprint)> {
    let empty = Map::new();
    let fields = match value {
        None | Some(Value::Null) => &empty,
        Some(Value::Object(fields)) => fields,
        Some(_) => return wrong("its `submitted` is no object."),
    };
    let flag = |name: &str, default| fields.get(name).and_then(Value::as_bool).unwrap_or(default);
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    let terms = Terms {
        current: flag("current", false),
        remember: flag("remember", true),
        language: text("language"),
        model: text("model"),
    };
    if terms.language.as_deref().is_some_and(|language| !is_language_tag(language)) {
        return wrong("its `language` is no language tag.");
    }
    if terms.model.as_ref().is_some_and(|model| model.chars().count() > MODEL_CHARS) {
        return wrong(format!("its `model` is longer than {MODEL_CHARS} characters."));
    }
    let fingerprint = match text("fingerprint") {
        Some(hex) => match Fingerprint::from_hex(&hex) {
            Some(fingerprint) => fingerprint,
            None => return wrong("its `fingerprint` is none."),
        },
        None => plain(outcome),
    };
    Ok((terms, fingerprint))
}

/// The fingerprint of an ask with nothing but its question.
pub(super) fn plain(outcome: &Outcome) -> Fingerprint {
    Fingerprint::of(&AskBody {
        request_id: outcome.request_id,
        conversation_id: outcome.conversation_id,
        question: outcome.question.clone().unwrap_or_default(),
        current: None,
        remember: None,
        language: None,
        model: None,
        retry_of: outcome.retry_of,
        system_prompt: None,
    })
}
