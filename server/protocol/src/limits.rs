//! The numbers both sides keep to. Whoever checks one of them names it here.

/// The longest question, in Unicode scalar values, after trimming.
pub const QUESTION_CHARS: usize = 32_768;
/// The largest body of an ask, in bytes.
pub const ASK_BODY_BYTES: usize = 512 * 1024;
/// The largest body of any other request, in bytes.
pub const BODY_BYTES: usize = 64 * 1024;
/// The most text one lookup with `after` brings, in bytes.
pub const PAGE_BYTES: usize = 64 * 1024;
/// The longest answer kept, in bytes; a longer one fails with `answer_too_large`.
pub const ANSWER_BYTES: usize = 2_000_000;
/// The longest wait a request may ask for, in seconds; no exchange needs to live longer.
pub const WAIT_SECONDS_MOST: u32 = 25;
/// How long an ask waits for its outcome when it names no wait, in seconds.
pub const ASK_WAIT_SECONDS: u32 = 20;
/// The longest `language`, in characters (BCP 47, RFC 5646 § 4.4.1 asks for at least 35).
pub const LANGUAGE_CHARS: usize = 35;
/// The longest `model`, in characters.
pub const MODEL_CHARS: usize = 200;
/// Turns in a page of a conversation when no limit is named.
pub const PAGE_TURNS: u32 = 50;
/// The most turns in a page of a conversation.
pub const PAGE_TURNS_MOST: u32 = 200;
/// The largest body of an import, in bytes.
pub const IMPORT_BODY_BYTES: usize = 64 * 1024 * 1024;
/// The longest system prompt, in Unicode scalar values: in any script it fits into [`BODY_BYTES`].
pub const SYSTEM_PROMPT_CHARS: usize = 16_000;
/// The longest title of a conversation, in Unicode scalar values, after trimming.
pub const TITLE_CHARS: usize = 200;
/// Conversations in a page of their list when no limit is named.
pub const PAGE_CONVERSATIONS: u32 = 50;
/// The most conversations in a page of their list.
pub const PAGE_CONVERSATIONS_MOST: u32 = 200;
