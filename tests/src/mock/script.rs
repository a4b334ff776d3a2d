//! What the mock provider does with a call: a list of steps, and the usual lists ready made.

use std::time::Duration;

use serde_json::{Value, json};

/// The time every answer of the mock claims to be from, in seconds since 1970.
const CREATED: u64 = 1_700_000_000;

/// One step of a [`Script`].
#[derive(Clone, Debug)]
pub enum Step {
    /// Does nothing for this long.
    Wait(Duration),
    /// Does nothing until the test opens the gate of this name.
    Gate(String),
    /// A whole reply that is no stream: status, fields, body.
    Reply(u16, Vec<(String, String)>, Vec<u8>),
    /// The head of an event stream. Steps that send a piece do this first if it was not done.
    Head,
    /// One event with a JSON body.
    Event(Value),
    /// Bytes of the stream, sent at once as they are.
    Raw(Vec<u8>),
    /// Bytes of the stream, in pieces of so many bytes, each so long after the one before.
    Drip(Vec<u8>, usize, Duration),
    /// Nothing more, until the client hangs up.
    Hang,
    /// The end of the connection by a reset, without the body's proper end.
    Reset,
}

/// The steps of one reply. After the last one, a stream that was begun ends properly.
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub(super) steps: Vec<Step>,
}

impl Script {
    /// No steps yet.
    pub fn new() -> Script {
        Script::default()
    }

    /// Adds a step.
    #[must_use]
    pub fn then(mut self, step: Step) -> Script {
        self.steps.push(step);
        self
    }

    /// Adds a pause.
    #[must_use]
    pub fn wait(self, pause: Duration) -> Script {
        self.then(Step::Wait(pause))
    }

    /// Adds a gate that the test opens by [`super::MockProvider::open`].
    #[must_use]
    pub fn gate(self, name: &str) -> Script {
        self.then(Step::Gate(name.to_owned()))
    }

    /// Adds a piece of the answer.
    #[must_use]
    pub fn delta(self, text: &str) -> Script {
        self.then(Step::Event(delta_event(text)))
    }

    /// Adds a piece of the answer for each word.
    #[must_use]
    pub fn words(self, text: &str) -> Script {
        self.words_every(text, Duration::ZERO)
    }

    /// Adds a piece of the answer for each word, each so long after the one before.
    #[must_use]
    pub fn words_every(self, text: &str, pause: Duration) -> Script {
        text.split_inclusive(' ').fold(self, |script, word| {
            let script = if pause.is_zero() { script } else { script.wait(pause) };
            script.delta(word)
        })
    }

    /// Adds a piece of reasoning (`reasoning_content`, as llama.cpp and `DeepSeek` send it).
    #[must_use]
    pub fn reasoning(self, text: &str) -> Script {
        let delta = json!({"role": "assistant", "content": null, "reasoning_content": text});
        self.then(Step::Event(chunk(&delta, None)))
    }

    /// Adds the reason why the answer ends: `stop`, `length`, `content_filter`.
    #[must_use]
    pub fn finish(self, reason: &str) -> Script {
        self.then(Step::Event(chunk(&json!({}), Some(reason))))
    }

    /// Adds the count of tokens, as sent with `stream_options.include_usage`: no choices in it.
    #[must_use]
    pub fn usage(self, input: u64, output: u64) -> Script {
        self.then(Step::Event(json!({
            "id": "chatcmpl-mock", "object": "chat.completion.chunk", "created": CREATED,
            "model": "mock",
            "choices": [],
            "usage": {
                "prompt_tokens": input,
                "completion_tokens": output,
                "total_tokens": input + output,
            },
        })))
    }

    /// Adds `[DONE]`.
    #[must_use]
    pub fn done(self) -> Script {
        self.then(Step::Raw(b"data: [DONE]\n\n".to_vec()))
    }

    /// Adds everything that ends a good answer: finish, usage, `[DONE]`.
    #[must_use]
    pub fn end(self) -> Script {
        self.finish("stop").usage(11, 22).done()
    }

    /// A whole good answer, a piece a word.
    pub fn answer(text: &str) -> Script {
        Script::new().words(text).end()
    }

    /// A whole good answer of so many numbered words (`word1 word2 …`), each so long after the one
    /// before.
    pub fn counted(words: usize, pause: Duration) -> Script {
        Script::new().words_every(&counted_words(words), pause).end()
    }

    /// A good answer that stops after its first words until the test opens the gate `go`, and then
    /// goes on to its end.
    pub fn gated(before: &str, go: &str, after: &str) -> Script {
        Script::new().words(before).gate(go).words(after).end()
    }

    /// A refusal or a fault of the provider, with `OpenAI`'s error body.
    pub fn refuse(status: u16, message: &str) -> Script {
        let body = json!({"error": {"message": message, "type": "error", "code": null}});
        Script::reply(
            status,
            &[("Content-Type", "application/json")],
            body.to_string().into_bytes(),
        )
    }

    /// A reply that is no stream.
    pub fn reply(status: u16, headers: &[(&str, &str)], body: Vec<u8>) -> Script {
        let headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Script::new().then(Step::Reply(status, headers, body))
    }

    /// Reads the question and never says a word.
    pub fn hang() -> Script {
        Script::new().then(Step::Hang)
    }

    /// A stream of about so many bytes of answer, in pieces of 32 KiB, as fast as it is read.
    pub fn flood(bytes: usize) -> Script {
        Script::new().flooding(bytes).end()
    }

    /// Adds about so many bytes of answer, in pieces of 32 KiB, as fast as they are read.
    #[must_use]
    pub fn flooding(self, bytes: usize) -> Script {
        let piece = "All work and no play. ".repeat(1490);
        (0..bytes.div_ceil(piece.len())).fold(self, |script, _| script.delta(&piece))
    }

    /// A whole answer, in pieces of so many bytes that mind neither events nor characters.
    pub fn dripped(text: &str, piece: usize, pause: Duration) -> Script {
        let mut bytes = Vec::new();
        for step in Script::new().delta(text).end().steps {
            match step {
                Step::Event(event) => bytes.extend_from_slice(&event_bytes(&event)),
                Step::Raw(raw) => bytes.extend_from_slice(&raw),
                _ => {}
            }
        }
        Script::new().then(Step::Drip(bytes, piece, pause))
    }
}

/// The text of [`Script::counted`]: what must stand on the screen at the end.
pub fn counted_words(words: usize) -> String {
    let words: Vec<String> = (1..=words).map(|number| format!("word{number}")).collect();
    words.join(" ")
}

fn delta_event(text: &str) -> Value {
    chunk(&json!({"content": text}), None)
}

fn chunk(delta: &Value, finish: Option<&str>) -> Value {
    json!({
        "id": "chatcmpl-mock", "object": "chat.completion.chunk", "created": CREATED,
        "model": "mock",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    })
}

pub(super) fn event_bytes(event: &Value) -> Vec<u8> {
    format!("data: {event}\n\n").into_bytes()
}
