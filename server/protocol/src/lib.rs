//! What page and server must agree on, once.
//!
//! Wire types, limits, trimming and counting, error codes, and the classification of replies. Compiled
//! into the server and into the page, so every byte here is fetched before the first question.
//!
//! *Architecture invariant:* this crate knows no HTTP library, no storage, no browser, no clock and no
//! source of randomness. Times and replies come in as values.

mod ask;
mod code;
mod conversation;
pub mod event_stream;
pub mod following;
mod ids;
pub mod limits;
mod members;
mod outcome;
mod owner;
mod prefer;
mod problem;
mod question;
pub mod reply;
mod retry_after;
mod session;
mod system_prompt;
mod timestamp;
mod title;
mod words;

pub use ask::{AskBody, AskError, CancelBody, is_language_tag};
pub use code::Code;
pub use conversation::{Conversation, ConversationList, ConversationSummary, ImportReport};
pub use ids::{ConversationId, IdError, RequestId};
pub use members::ObjectWriter;
pub use outcome::{
    Answer, Capture, CaptureReason, ContextItem, ContextKind, Failure, FailureCode, Finish, Format,
    Outcome, Receipt, Route, State, Status,
};
pub use owner::{Owner, OwnerError};
pub use prefer::wait_preference;
pub use problem::Problem;
pub use question::{Question, QuestionError};
pub use retry_after::retry_after;
pub use session::{Limits, Model, ModelState, Principal, RecoveryPolicy, Session};
pub use system_prompt::system_prompt;
pub use timestamp::Timestamp;
pub use title::{Title, TitleError};
pub use words::UnknownWord;
