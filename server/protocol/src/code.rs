//! The application error codes of problems, each with its status and title.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $status:literal, $title:literal;)*) => {
        /// An application error code. Its presence is what tells Holdfast's own refusal from
        /// whatever stands in between.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// Every code there is.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The code as it stands on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The HTTP status the code goes with.
            pub const fn status(self) -> u16 {
                match self { $(Self::$name => $status,)* }
            }

            /// A short title for people, the same for every occurrence of the code.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }
        }
    };
}

codes! {
    /// The body is not JSON.
    InvalidJson = "invalid_json", 400, "Not valid JSON";
    /// A field is missing or out of bounds; the detail names it.
    InvalidField = "invalid_field", 400, "A field is not valid";
    /// The request id is not a canonical UUID.
    InvalidRequestId = "invalid_request_id", 400, "Not a request id";
    /// The conversation id is not a canonical UUID.
    InvalidConversationId = "invalid_conversation_id", 400, "Not a conversation id";
    /// `retry_of` names no own, settled ask of the conversation.
    InvalidRetryOf = "invalid_retry_of", 400, "Nothing to ask again";
    /// The offset is not a number.
    InvalidOffset = "invalid_offset", 400, "Not an offset";
    /// `Idempotency-Key` differs from `request_id`.
    KeyMismatch = "key_mismatch", 400, "Two keys for one ask";
    /// Nobody is signed in.
    SignInRequired = "sign_in_required", 401, "Sign in first";
    /// The token is unknown or revoked.
    InvalidToken = "invalid_token", 401, "The token is not valid";
    /// The request comes from another site's page.
    OriginRejected = "origin_rejected", 403, "Not from this site";
    /// The principal may not do this.
    Forbidden = "forbidden", 403, "Not allowed";
    /// The `Host` is not one Holdfast answers for.
    HostRejected = "host_rejected", 421, "Not a host of this server";
    /// No such route.
    NotFound = "not_found", 404, "Not found";
    /// No such conversation.
    ConversationNotFound = "conversation_not_found", 404, "No such conversation";
    /// The route exists, the method does not.
    MethodNotAllowed = "method_not_allowed", 405, "Method not allowed";
    /// The conversation was deleted.
    ConversationDeleted = "conversation_deleted", 409, "The conversation was deleted";
    /// The ask named by `retry_of` was asked again already.
    AlreadyRetried = "already_retried", 409, "Already asked again";
    /// Somebody else changed it in between.
    RevisionConflict = "revision_conflict", 409, "Changed in between";
    /// The ask was deleted.
    RequestDeleted = "request_deleted", 410, "The question was deleted";
    /// The body is larger than the route takes.
    TooLarge = "too_large", 413, "Too large";
    /// The body is not `application/json`.
    UnsupportedMediaType = "unsupported_media_type", 415, "Not JSON";
    /// The id is known with another payload or in another conversation.
    RequestMismatch = "request_mismatch", 422, "The id belongs to another question";
    /// Too many requests.
    RateLimited = "rate_limited", 429, "Too many requests";
    /// The budget is spent. A refusal, not a wait.
    BudgetExhausted = "budget_exhausted", 429, "The budget is spent";
    /// The server is going down.
    ShuttingDown = "shutting_down", 503, "Shutting down";
    /// The server is not ready yet.
    Starting = "starting", 503, "Starting";
    /// The journal cannot be written or read. No proof that nothing was kept.
    ArchiveUnavailable = "archive_unavailable", 503, "The archive cannot be reached";
    /// A fault in Holdfast itself.
    Internal = "internal", 500, "Something went wrong";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is none of the codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownCode;

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an application error code")
    }
}

impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text).ok_or(UnknownCode)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
