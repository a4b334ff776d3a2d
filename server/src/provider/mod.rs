//! What generates text: one trait, and a module for each dialect that is spoken.
//!
//! Here belong the trait, the values that cross it, and nothing that knows a dialect. Which messages
//! are sent, what is kept of an answer, how long it may be and what is journalled is decided above
//! (`ask`, `runs`); a provider is handed a finished [`Call`] and hands back [`Piece`]s and an end.
//!
//! *Architecture invariant:* a provider makes at most one attempt for a call. It never repeats, never
//! follows, never falls back to another model: whatever went out may have been billed, and only the
//! journal may decide what happens next.
//!
//! *Architecture invariant:* dropping the future of [`Provider::generate`] ends the call and closes its
//! connection. Nothing is left running on its behalf.

mod in_process;
pub mod notes;
pub mod openai;
mod quote;
mod secret;

use std::fmt;

use async_trait::async_trait;
use holdfast_protocol::{FailureCode, Finish, Model, Route};

pub use self::in_process::NotesProvider;
pub use self::secret::Secret;

/// Something that generates text.
#[async_trait]
pub trait Provider: Send + Sync {
    /// The provider's name as receipts and the session say it, such as `openai`.
    fn name(&self) -> &str;

    /// The models that can be asked, the default first, each with its state as last seen. Never
    /// waits and never touches the network.
    fn models(&self) -> Vec<Model>;

    /// Whether an ask may name this model: what is not among [`Provider::models`] may not, as far as
    /// that list is known. Like it, never waits.
    fn offers(&self, model: &str) -> bool {
        self.models().iter().any(|known| known.name == model)
    }

    /// Whether it generates inside this process: then no byte leaves, nothing can be billed, a run
    /// makes 0 provider calls, and one that a crash cut off may simply run again.
    fn is_in_process(&self) -> bool;

    /// The route of an answer it generated.
    fn route(&self) -> Route;

    /// Generates an answer, handing over each piece as it comes, in order.
    ///
    /// One attempt. Pieces handed over before an error stay what they are: the caller keeps them. How
    /// long it may take, and be silent, is the caller's business, who is told of every sign of life.
    /// Dropping the future ends the call.
    async fn generate(
        &self,
        call: &Call,
        pieces: &mut (dyn FnMut(Piece) + Send),
    ) -> Result<Generated, ProviderError>;
}

/// What is asked of a provider, finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Goes out as `Idempotency-Key`: the ask's id, so that whoever counts calls can count by ask.
    pub idempotency_key: String,
    /// The model the ask names; without one, the provider's default.
    pub model: Option<String>,
    /// The conversation as the model is to see it, oldest first, the question last.
    pub messages: Vec<Message>,
    /// The language the asker reads, a BCP 47 tag.
    pub language: Option<String>,
}

impl Call {
    /// The question: the text of the last message of the user, or nothing.
    pub fn question(&self) -> &str {
        self.messages
            .iter()
            .rev()
            .find(|message| message.role == Role::User)
            .map_or("", |message| message.content.as_str())
    }
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: String,
}

/// Who says a [`Message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Whoever runs the conversation.
    System,
    /// Whoever asks.
    User,
    /// The model, in an earlier turn.
    Assistant,
}

/// A piece of what is being generated. Its text is never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Nothing to show, but a sign of life: the head of a reply, a comment, any byte at all.
    Life,
    /// Of the answer. Pieces joined are the answer's text.
    Text(String),
    /// Of what the model thinks aloud; never part of the answer.
    Reasoning(String),
}

/// What a provider says it counted. Absent is not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens in.
    pub input_tokens: Option<u64>,
    /// Tokens out, reasoning included.
    pub output_tokens: Option<u64>,
}

/// How a call that was answered in full ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Generated {
    /// The model that answered, as the provider names it.
    pub model: Option<String>,
    /// Why it stopped, where it said so in a word that is known.
    pub finish: Option<Finish>,
    /// What was counted.
    pub usage: Usage,
}

/// How a call that was not answered in full ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderError {
    /// The outcome's code.
    pub code: FailureCode,
    /// A sentence for people: short, free of secrets and of the answer's text.
    pub message: String,
    /// Whether asking again may help.
    pub retryable: bool,
    /// Whether the provider may have been called. `false` only where provably no byte of the request
    /// was written: then nothing can have been billed.
    pub called: bool,
    /// What was counted until then.
    pub usage: Usage,
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ProviderError {}
