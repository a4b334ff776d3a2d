//! A conversation of a `ChatGPT` export (`conversations.json`).
//!
//! It is a tree of messages; the branch that was shown last becomes the conversation. A message of the
//! user is a question, and what follows it, of the model or its tools, is the answer. Ids are made of
//! theirs, always the same, so that whoever imports twice finds everything there already. What is no
//! text is named in brackets. A question that is too long is cut, and its rest begins the answer, so that
//! no word of it is lost.

use std::collections::HashSet;

use holdfast_protocol::limits::{ANSWER_BYTES, QUESTION_CHARS};
use holdfast_protocol::{
    Answer, ConversationId, Outcome, Question, Receipt, RequestId, Route, Status, Timestamp,
};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{Result, turn, wrong};
use crate::journal::{Terms, Transcript, TranscriptTurn};

/// Stands where an answer came without a question.
const NO_QUESTION: &str = "[The conversation began without a question.]";
/// Ends a question whose rest is in the answer.
const CUT: &str = "\n\n[The rest of the question is at the beginning of the answer.]";

type Fields = Map<String, Value>;

pub(super) fn read(fields: &Fields, name: &str) -> Result<Transcript> {
    let text = |field: &str| fields.get(field).and_then(Value::as_str);
    let Some(own) = text("conversation_id").or_else(|| text("id")).or_else(|| text("current_node"))
    else {
        return wrong(format!("{name}: it has no `id`."));
    };
    let id = ConversationId::new(derived("conversation", own));
    let begun = time(fields.get("create_time")).unwrap_or_default();
    let Some(Value::Object(mapping)) = fields.get("mapping") else {
        return wrong(format!("{name}: `mapping` must be an object."));
    };
    let branch = branch(mapping, text("current_node"))
        .map_or_else(|sentence| wrong(format!("{name}: {sentence}")), Ok)?;
    let mut turns: Vec<Draft> = Vec::new();
    for (node, message) in branch {
        let Some(said) = Said::of(message) else { continue };
        let at = time(message.get("create_time"));
        if said.role == "user" {
            turns.push(Draft::new(node, said.text, at));
        } else {
            if turns.is_empty() {
                turns.push(Draft::new(node, NO_QUESTION.to_owned(), at));
            }
            if let Some(draft) = turns.last_mut() {
                draft.answer(said, message, at);
            }
        }
    }
    let mut last = begun;
    let turns: Vec<_> = turns
        .into_iter()
        .map(|draft| {
            let turn = draft.finish(id, own, last);
            last = turn.outcome.settled_at.unwrap_or(last);
            turn
        })
        .collect();
    let first = turns.first().and_then(|turn| turn.outcome.question.as_deref());
    Ok(Transcript {
        id,
        title: super::title(text("title").unwrap_or_default(), first.unwrap_or_default()),
        system_prompt: None,
        created_at: begun,
        updated_at: time(fields.get("update_time")).unwrap_or(last).max(last),
        turns,
    })
}

/// The messages from the root to the one that was shown last.
fn branch<'a>(
    mapping: &'a Fields,
    current: Option<&'a str>,
) -> std::result::Result<Vec<(&'a str, &'a Fields)>, String> {
    let mut at = match current {
        Some(current) => Some(current),
        // The last leaf: what is nobody's parent.
        None => mapping
            .iter()
            .rev()
            .find(|(_, node)| {
                node.get("children").and_then(Value::as_array).is_none_or(Vec::is_empty)
            })
            .map(|(id, _)| id.as_str()),
    };
    let mut seen = HashSet::new();
    let mut branch = Vec::new();
    while let Some(id) = at {
        if !seen.insert(id) {
            return Err(format!("the messages around {id:?} go round in circles."));
        }
        let Some(node) = mapping.get(id) else {
            return Err(format!("there is no message {id:?}."));
        };
        if let Some(Value::Object(message)) = node.get("message") {
            branch.push((id, message));
        }
        at = node.get("parent").and_then(Value::as_str);
    }
    branch.reverse();
    Ok(branch)
}

/// What a message says.
struct Said<'a> {
    role: &'a str,
    text: String,
    /// Whether it was thought, not said.
    is_thought: bool,
}

impl<'a> Said<'a> {
    fn of(message: &'a Fields) -> Option<Self> {
        let role = message.get("author")?.get("role")?.as_str()?;
        let metadata = message.get("metadata");
        let is_hidden = metadata
            .and_then(|metadata| metadata.get("is_visually_hidden_from_conversation"))
            .and_then(Value::as_bool)
            .unwrap_or(false);
        if is_hidden || !matches!(role, "user" | "assistant" | "tool") {
            return None;
        }
        let content = message.get("content")?;
        let kind = content.get("content_type").and_then(Value::as_str).unwrap_or("text");
        let mut parts = Vec::new();
        match kind {
            "text" | "multimodal_text" => {
                let list = content.get("parts").and_then(Value::as_array);
                parts.extend(list.into_iter().flatten().filter_map(part));
            }
            "code" | "execution_output" => {
                let text = content.get("text").and_then(Value::as_str).unwrap_or_default();
                if !text.trim().is_empty() {
                    parts.push(fenced(text));
                }
            }
            "thoughts" => {
                let list = content.get("thoughts").and_then(Value::as_array);
                let thought = |value: &Value| Some(value.get("content")?.as_str()?.to_owned());
                parts.extend(list.into_iter().flatten().filter_map(thought));
            }
            "reasoning_recap" | "model_editable_context" | "user_editable_context" => {}
            _ => match content.get("text").and_then(Value::as_str) {
                Some(text) => parts.push(text.to_owned()),
                None => parts.push(format!("[{}]", word(kind))),
            },
        }
        let files = metadata.and_then(|it| it.get("attachments")).and_then(Value::as_array);
        for file in files.into_iter().flatten() {
            let name = file.get("name").and_then(Value::as_str).unwrap_or("without a name");
            parts.push(format!("[file: {}]", name.replace('\0', "")));
        }
        let text = parts.join("\n\n").replace('\0', "");
        let is_empty = text.trim().is_empty();
        (!is_empty).then_some(Self { role, text, is_thought: kind == "thoughts" })
    }
}

/// A piece of a message: text, or the name of what cannot be kept.
fn part(part: &Value) -> Option<String> {
    match part {
        Value::String(text) => (!text.is_empty()).then(|| text.clone()),
        Value::Object(fields) => {
            let kind = fields.get("content_type").and_then(Value::as_str).unwrap_or("attachment");
            let text = fields.get("text").and_then(Value::as_str);
            Some(text.map_or_else(|| format!("[{}]", word(kind)), str::to_owned))
        }
        _ => None,
    }
}

/// What people call it.
fn word(kind: &str) -> &str {
    if kind.contains("image") {
        "image"
    } else if kind.contains("audio") {
        "audio"
    } else if kind.contains("video") {
        "video"
    } else {
        "attachment"
    }
}

/// A block of code, whatever is in it.
fn fenced(text: &str) -> String {
    let mut longest = 0;
    for run in text.split(|c| c != '`') {
        longest = longest.max(run.len());
    }
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// A turn in the making.
struct Draft<'a> {
    node: &'a str,
    question: String,
    asked_at: Option<Timestamp>,
    answers: Vec<String>,
    thoughts: Vec<String>,
    model: Option<String>,
    settled_at: Option<Timestamp>,
}

impl<'a> Draft<'a> {
    const fn new(node: &'a str, question: String, asked_at: Option<Timestamp>) -> Self {
        Self {
            node,
            question,
            asked_at,
            answers: Vec::new(),
            thoughts: Vec::new(),
            model: None,
            settled_at: None,
        }
    }

    fn answer(&mut self, said: Said<'_>, message: &Fields, at: Option<Timestamp>) {
        if said.is_thought {
            self.thoughts.push(said.text);
        } else {
            self.answers.push(said.text);
        }
        self.settled_at = at.or(self.settled_at);
        let model = message.get("metadata").and_then(|metadata| metadata.get("model_slug"));
        if let Some(model) = model.and_then(Value::as_str) {
            self.model = Some(model.to_owned());
        }
    }

    fn finish(
        self,
        conversation_id: ConversationId,
        own: &str,
        earlier: Timestamp,
    ) -> TranscriptTurn {
        let node = format!("{own}\n{}", self.node);
        let request_id = RequestId::new(derived("message", &node));
        let (question, rest) = shortened(&self.question);
        let mut answer = self.answers.join("\n\n");
        if let Some(rest) = rest {
            answer = format!("[The rest of the question:]\n\n{rest}\n\n[The answer:]\n\n{answer}");
        }
        if answer.len() > ANSWER_BYTES {
            let cut = "\n\n[The rest did not fit.]";
            answer.truncate(answer.floor_char_boundary(ANSWER_BYTES - cut.len()));
            answer.push_str(cut);
        }
        let is_answered = !answer.trim().is_empty();
        let status = if is_answered { Status::Completed } else { Status::Cancelled };
        let mut outcome = Outcome::bare(request_id, conversation_id, status, None);
        let asked_at = self.asked_at.unwrap_or(earlier);
        outcome.question = Some(question);
        outcome.asked_at = Some(asked_at);
        outcome.settled_at = Some(self.settled_at.unwrap_or(asked_at).max(asked_at));
        let reasoning = (!self.thoughts.is_empty()).then(|| self.thoughts.join("\n\n"));
        if is_answered || reasoning.is_some() {
            let bytes = answer.len() as u64;
            outcome.answer = Some(Answer { text: answer, bytes, reasoning, ..Answer::default() });
        }
        outcome.route = is_answered.then_some(Route::Provider);
        outcome.receipt = Some(Receipt {
            provider: Some("chatgpt".to_owned()),
            model: self.model,
            submissions: 1,
            ..Receipt::default()
        });
        let fingerprint = turn::plain(&outcome);
        let terms = Terms { remember: true, ..Terms::default() };
        TranscriptTurn { outcome, terms, fingerprint }
    }
}

/// The question as it is kept, and what does not fit.
fn shortened(text: &str) -> (String, Option<String>) {
    if let Ok(question) = Question::parse(text) {
        return (question.into_string(), None);
    }
    let most = QUESTION_CHARS - CUT.chars().count();
    let trimmed = text.trim();
    match trimmed.char_indices().nth(most) {
        Some((at, _)) => {
            let (first, rest) = trimmed.split_at(at);
            (format!("{first}{CUT}"), Some(rest.to_owned()))
        }
        None => (NO_QUESTION.to_owned(), None),
    }
}

/// A time in seconds since the epoch.
fn time(value: Option<&Value>) -> Option<Timestamp> {
    let seconds = value?.as_f64().filter(|seconds| seconds.is_finite() && *seconds >= 0.0)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    Some(Timestamp::from_millis((seconds * 1000.0).round() as u64))
}

/// An id that is always the same for the same thing.
fn derived(kind: &str, own: &str) -> Uuid {
    let digest = Sha256::new()
        .chain_update(b"holdfast import 1\n")
        .chain_update(kind)
        .chain_update(b"\n")
        .chain_update(own)
        .finalize();
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(digest.iter()).for_each(|(byte, of)| *byte = *of);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}
