//! Every word the page says, in one place. Short, calm, and saying what happens next.
//!
//! Not here: what a turn says about itself, which is composed in `ui::turn::state` from these.

use std::time::Duration;

use holdfast_recovery::{Announcement, Returned};

pub(crate) const PRODUCT: &str = "Holdfast";
pub(crate) const NEW_CHAT: &str = "New chat";
pub(crate) const NEW_CHAT_INSTEAD: &str = "Start a new chat";
pub(crate) const QUESTION: &str = "Question";
pub(crate) const PLACEHOLDER: &str = "Ask anything";
pub(crate) const SEND: &str = "Send";
pub(crate) const STOP: &str = "Stop";
pub(crate) const NEW_TEXT: &str = "New text";
pub(crate) const EARLIER: &str = "Earlier";
pub(crate) const TRY_AGAIN: &str = "Try again";
pub(crate) const DISMISS: &str = "Dismiss";
pub(crate) const OPEN: &str = "Open";
pub(crate) const COPY: &str = "Copy";
pub(crate) const COPIED: &str = "Copied";
pub(crate) const CONVERSATION: &str = "Conversation";
pub(crate) const NOTICES: &str = "Notices";

pub(crate) const CONVERSATIONS: &str = "Conversations";
pub(crate) const CLOSE_CONVERSATIONS: &str = "Close the conversations";
pub(crate) const TODAY: &str = "Today";
pub(crate) const YESTERDAY: &str = "Yesterday";
pub(crate) const THIS_WEEK: &str = "The last seven days";
pub(crate) const THIS_MONTH: &str = "The last thirty days";
pub(crate) const BEFORE: &str = "Earlier";
pub(crate) const SEARCH: &str = "Search";
pub(crate) const MORE: &str = "More";
pub(crate) const NO_CONVERSATIONS: &str = "Your conversations will stand here.";
pub(crate) const NOTHING_FOUND: &str = "Nothing found.";
pub(crate) const NOT_REACHED: &str = "Holdfast did not answer. Nothing is lost; try again.";
pub(crate) const WORKING_MARK: &str = "Working.";
pub(crate) const UNREAD_MARK: &str = "Unread.";
pub(crate) const RENAME: &str = "Rename";
pub(crate) const INSTRUCTIONS: &str = "Instructions";
pub(crate) const INSTRUCTIONS_GIVEN: &str = "Instructions: given";
pub(crate) const INSTRUCTIONS_MORE: &str = "What the model is told before every question of this conversation, from the next one on. Leave it empty for the usual.";
pub(crate) const LOADING_INSTRUCTIONS: &str = "Loading the instructions";
pub(crate) const SAVE: &str = "Save";
pub(crate) const CANCEL: &str = "Cancel";
pub(crate) const TITLE: &str = "Title";
pub(crate) const DELETE: &str = "Delete";
pub(crate) const DELETED: &str = "Deleted:";
pub(crate) const UNDO: &str = "Undo";
pub(crate) const EXPORT_MARKDOWN: &str = "Export as Markdown";
pub(crate) const EXPORT_JSON: &str = "Export as JSON";
pub(crate) const IMPORT: &str = "Import conversations";
pub(crate) const FILE_UNREADABLE: &str = "The file could not be read.";

pub(crate) const CHECK_AGAIN: &str = "Check again";
pub(crate) const SEND_NOW: &str = "Send now";
pub(crate) const STOP_THIS: &str = "Stop this question";
pub(crate) const TAKE_BACK: &str = "Edit";
pub(crate) const DISCARD: &str = "Discard";
pub(crate) const ASK_AGAIN: &str = "Ask again";
pub(crate) const ASK_AGAIN_COSTS: &str = "Ask again (may cost again)";
pub(crate) const CONTINUE: &str = "Continue";
/// What is asked then.
pub(crate) const GO_ON: &str = "Continue exactly where you stopped.";
pub(crate) const THINKING: &str = "Thinking";
pub(crate) const REASONING: &str = "Reasoning";
pub(crate) const ANSWERS: &str = "Answers to this question";
pub(crate) const PREVIOUS_ANSWER: &str = "Previous answer";
pub(crate) const NEXT_ANSWER: &str = "Next answer";
pub(crate) const ASKED: &str = "Asked";
pub(crate) const SUBMITTED: &str = "Sent";
pub(crate) const MODEL_CALLS: &str = "Model calls";
pub(crate) const RECOVERY: &str = "Recovery";
pub(crate) const BY_LOOKUP: &str = "found in the archive";
pub(crate) const NOT_NEEDED: &str = "not needed";
pub(crate) const TOKENS: &str = "Tokens";
pub(crate) const FIRST_TOKEN: &str = "First word after";
pub(crate) const RUN: &str = "Whole run";
pub(crate) const REQUEST_ID: &str = "Request id";
pub(crate) const ANSWER_ARRIVED: &str = "Holdfast: an answer has arrived";
pub(crate) const QUESTION_FAILED: &str = "Holdfast: a question failed";
pub(crate) const NOTIFY: &str = "Notify me of answers";
pub(crate) const USE_IT: &str = "Put in the box";

pub(crate) const WELCOME: &str = "Ask, and the answer stays yours.";
pub(crate) const WELCOME_MORE: &str =
    "Lose the line, close the lid, reload: the answer is kept, and never paid for twice.";
pub(crate) const TRY_ONE: &str = "Try one of these";
/// Questions that the handbook answers.
pub(crate) const EXAMPLES: [&str; 3] =
    ["What happens when the line drops?", "How do I connect a model?", "What does it cost?"];

pub(crate) const PART_DELAYED: &str =
    "Part of the page is missing. Trying again; your questions are kept.";
pub(crate) const PART_MISSING: &str =
    "Part of the page could not be loaded. Reload it; your questions are kept.";
pub(crate) const RELOAD: &str = "Reload";

pub(crate) const LOADING: &str = "Loading the conversation";
pub(crate) const CONVERSATION_MISSING: &str = "There is no such conversation here. The address may be cut off, or it belongs to someone else.";
pub(crate) const CONVERSATION_DELETED: &str = "This conversation was deleted.";
pub(crate) const CONVERSATION_UNREACHABLE: &str =
    "The conversation could not be loaded. It is safe in the archive.";
pub(crate) const EARLIER_UNREACHABLE: &str = "The earlier turns could not be loaded.";
pub(crate) const SIGN_IN: &str = "Nobody is signed in. Your questions are kept until you are.";

pub(crate) const OFFLINE: &str =
    "You are offline. Questions wait here and go out by themselves when the line is back.";
pub(crate) const SERVER_UNREACHABLE: &str =
    "Holdfast cannot be reached. Questions wait here and go out when it can.";
pub(crate) const CLOSING_LOSES: &str = "This browser blocks storage. Asking works, and a reload finds \
    pending answers; if you close the tab, find them by the conversation’s address.";
pub(crate) const RELOAD_LOSES: &str = "This browser blocks storage. Asking works, but after a reload \
    this page will not find a pending answer by itself.";
pub(crate) const NEVER_SENT: &str = "Written in another tab and never sent";
pub(crate) const PUT_ASIDE: &str = "Put aside from the box";
pub(crate) const PENDING_ELSEWHERE: &str = "Under way in another conversation";
pub(crate) const SETTLED_ELSEWHERE: &str = "Finished in another conversation";

pub(crate) const QUEUED_OFFLINE: &str = "Not sent yet. It goes out when the line is back.";
pub(crate) const QUEUED: &str = "Not sent yet. Waiting for Holdfast.";
pub(crate) const SENDING: &str = "Sending";
pub(crate) const STOPPING: &str = "Stopping";
pub(crate) const BUSY: &str = "The server asks to wait.";
pub(crate) const CHECKING_SENT: &str = "Checking whether your question arrived";
pub(crate) const CHECKING_ANSWER: &str = "Connection lost. Fetching the answer from the archive";
pub(crate) const UNREACHABLE: &str =
    "Holdfast cannot be reached. Your question is kept, and looked up when the line is back.";
pub(crate) const MAY_NOT_HAVE_ARRIVED: &str =
    "It may never have arrived: the archive knows nothing of it.";
pub(crate) const MAY_HAVE_BEEN_PAID: &str = "The archive has changed since you asked. It may already have been paid for, so it is not sent \
    again by itself.";
pub(crate) const SIGN_IN_FIRST: &str = "Sign in to go on. Your question is kept.";
pub(crate) const STARTING: &str = "Accepted. It starts in a moment";
pub(crate) const WORKING: &str = "Working";
pub(crate) const ARCHIVING: &str =
    "Not archived yet. The answer is whole; the archive is being tried again";
pub(crate) const CANCELLED: &str = "Stopped.";
pub(crate) const CANCELLED_WITH_TEXT: &str = "Stopped. What was written until then is kept.";
pub(crate) const INTERRUPTED: &str = "Interrupted: Holdfast was restarted while the model was \
    answering. It is not repeated by itself, because it may already have been paid for.";
pub(crate) const FAILED: &str = "There is no complete answer.";
pub(crate) const REFUSED: &str = "The question was not accepted.";
pub(crate) const CUT_BY_LENGTH: &str = "The model reached its length limit here.";
pub(crate) const CUT_BY_FILTER: &str = "The provider’s filter ended the answer here.";
pub(crate) const NOT_ARCHIVED: &str = "Not archived: this part exists only on this page.";

pub(crate) const RECOVERED: &str = "recovered";
pub(crate) const FROM_HANDBOOK: &str = "from the handbook";
pub(crate) const NO_CALLS: &str = "no model call";
pub(crate) const UNREACHABLE_MODEL: &str = "unreachable";
pub(crate) const KEY_MISSING: &str = "key missing";

/// What the status region says.
pub(crate) const fn announcement(announcement: Announcement) -> &'static str {
    match announcement {
        Announcement::Sent => "Question sent.",
        Announcement::StillWorking => "Still working on the answer.",
        Announcement::ConnectionLost => "Connection lost. Checking.",
        Announcement::Recovered => "Answer recovered.",
        Announcement::Completed => "Answer complete.",
        Announcement::Failed => "The question failed.",
        Announcement::Stopped => "Stopped.",
        Announcement::Unreachable => "Holdfast cannot be reached.",
    }
}

/// Why a question came back.
pub(crate) fn returned(why: &Returned) -> String {
    match why {
        Returned::Refused { detail, .. } if !detail.is_empty() => detail.clone(),
        Returned::Refused { .. } => REFUSED.to_owned(),
        Returned::Withdrawn => "Withdrawn before it was sent".to_owned(),
        Returned::TakenBack => "Taken back".to_owned(),
        Returned::Expired => {
            "Asked more than seven days ago. The archive knows nothing of it, so it is not looked for \
             any more"
                .to_owned()
        }
    }
}

/// A question that does not fit.
pub(crate) fn too_long(chars: usize, most: usize) -> String {
    let (chars_text, most_text) = (grouped(chars), grouped(most));
    let over = grouped(chars.saturating_sub(most));
    format!("The question has {chars_text} characters; {most_text} fit. Shorten it by {over}.")
}

/// A paste that is refused outright.
pub(crate) fn paste_too_long(chars: usize, most: usize) -> String {
    let (chars, most) = (grouped(chars), grouped(most));
    format!("That text has about {chars} characters; a question holds {most}. It was not pasted.")
}

/// How much is left, when little is.
pub(crate) fn characters(chars: usize, most: usize) -> String {
    format!("{} / {}", grouped(chars), grouped(most))
}

/// The place in the queue.
pub(crate) fn queued_behind(before: u32) -> String {
    match before {
        0 => STARTING.to_owned(),
        1 => "Accepted. One question is before it".to_owned(),
        more => format!("Accepted. {more} questions are before it"),
    }
}

/// When the next try is made.
pub(crate) fn trying_again(seconds: u64) -> String {
    match seconds {
        0 => "Trying again now.".to_owned(),
        _ => format!("Trying again in {}.", lasting(seconds)),
    }
}

/// A wait that a person should decide about.
pub(crate) fn long_wait(wait: Duration) -> String {
    format!("The server asks to wait {}. It is not sent by itself.", lasting(wait.as_secs()))
}

/// How often a model was called.
pub(crate) fn calls(calls: u32) -> String {
    match calls {
        0 => NO_CALLS.to_owned(),
        1 => "1 call".to_owned(),
        more => format!("{more} calls"),
    }
}

/// How often something was done.
pub(crate) fn times(times: u32) -> String {
    match times {
        1 => "once".to_owned(),
        more => format!("{more} times"),
    }
}

/// What went to the model, and what came from it.
pub(crate) fn tokens(input: u64, output: u64, estimated: bool) -> String {
    let number = |number| grouped(usize::try_from(number).unwrap_or(usize::MAX));
    let estimated = if estimated { ", estimated" } else { "" };
    format!("{} in, {} out{estimated}", number(input), number(output))
}

/// A length of time, for people.
pub(crate) fn lasting(seconds: u64) -> String {
    match seconds {
        0..=89 => format!("{seconds} s"),
        90..=5_399 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// How long a run took.
pub(crate) fn run_time(millis: u64) -> String {
    match millis {
        0..=9_949 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => lasting(millis / 1_000),
    }
}

/// A number with its thousands apart.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn more_about(title: &str) -> String {
    format!("More about {title}")
}

/// What an import came to, in conversations.
pub(crate) fn imported([created, unchanged, conflicts]: [u64; 3]) -> String {
    let conflicts = match conflicts {
        0 => String::new(),
        count => format!(" {count} left alone: they are here with other content."),
    };
    format!("{created} imported, {unchanged} here already.{conflicts}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234), "1,234");
        assert_eq!(grouped(123_456), "123,456");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(
            too_long(32_770, 32_768),
            "The question has 32,770 characters; 32,768 fit. Shorten it by 2."
        );
    }

    #[test]
    fn times_are_written_for_people() {
        assert_eq!((lasting(5), lasting(125)), ("5 s".into(), "2 min 5 s".into()));
        assert_eq!(lasting(7_260), "2 h 1 min");
        assert_eq!((run_time(42), run_time(4_260)), ("0.0 s".into(), "4.2 s".into()));
        assert_eq!(run_time(61_000), "61 s");
    }
}
