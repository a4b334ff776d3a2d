//! How a run ended, and the outcome that makes of it.

use std::time::Duration;

use holdfast_protocol::{
    ConversationId, Failure, FailureCode, Finish, Outcome, Receipt, RequestId, Route, Status,
    Timestamp,
};

use super::deadlines::Overdue;
use super::live::Stop;
use crate::ask::{Context, capture};
use crate::provider::{Generated, Provider, ProviderError, Usage};

const RESTARTED: &str = "Holdfast was stopped while this was being answered. \
                         What had arrived is kept; it may have been billed.";

const RESTARTED_FREE: &str = "Holdfast was stopped while this was being answered. \
                              What had arrived is kept; nothing was billed.";

/// The end of an ask, without its text, which whoever watches has already.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct End {
    status: Status,
    error: Option<Failure>,
    finish: Option<Finish>,
    route: Option<Route>,
    receipt: Receipt,
    context: Context,
}

impl End {
    const fn new(status: Status, error: Option<Failure>, receipt: Receipt) -> Self {
        let context = Context { messages: Vec::new(), items: Vec::new() };
        Self { status, error, finish: None, route: None, receipt, context }
    }

    /// Cancelled before its run began.
    pub(super) fn cancelled_in_line() -> Self {
        Self::new(Status::Cancelled, None, Receipt::default())
    }

    /// The server went down, or was down too long, before its run began.
    pub(super) fn stale() -> Self {
        let message = "Holdfast was down for more than an hour while this waited to be answered, \
                       so it was not sent: nobody may be waiting for it any more.";
        let error = failure(FailureCode::ServerRestarted, message, true);
        Self::new(Status::Interrupted, Some(error), Receipt::default())
    }

    /// A crash came before anybody can have been told that it was accepted, or its commit was said to
    /// have failed: nobody may count on its being run.
    pub(super) fn unconfirmed() -> Self {
        let message = "Holdfast was stopped before the archive had confirmed that this question was \
                       kept, so it was not sent.";
        let error = failure(FailureCode::ServerRestarted, message, true);
        Self::new(Status::Interrupted, Some(error), Receipt::default())
    }

    /// A crash cut it off while `provider` was being called.
    pub(super) fn cut_off(provider: Option<String>) -> Self {
        let receipt = Receipt { provider, provider_calls: 1, ..Receipt::default() };
        let error = failure(FailureCode::ServerRestarted, RESTARTED, true);
        Self::new(Status::Interrupted, Some(error), receipt)
    }

    /// It brings the server down each time.
    pub(super) fn given_up(starts: u32, provider: Option<String>) -> Self {
        let message = format!("Holdfast went down each of the {starts} times this was tried.");
        let error = failure(FailureCode::Internal, &message, false);
        Self::new(Status::Failed, Some(error), Receipt { provider, ..Receipt::default() })
    }

    /// Its run panicked, or is lost. `called`: whether a provider that bills may have been called.
    pub(super) fn lost(provider: Option<String>, called: bool) -> Self {
        let error =
            failure(FailureCode::Internal, "A fault in Holdfast cut this answer off.", true);
        let receipt = Receipt { provider, provider_calls: called.into(), ..Receipt::default() };
        Self::new(Status::Failed, Some(error), receipt)
    }

    /// The archive has no question for it.
    pub(super) fn unreadable() -> Self {
        let error =
            failure(FailureCode::Internal, "The question is missing in the archive.", false);
        Self::new(Status::Failed, Some(error), Receipt::default())
    }

    /// The outcome of an id that was cancelled before anything was heard of it.
    pub(super) fn cancelled_unheard(
        request_id: RequestId,
        conversation_id: ConversationId,
        now: Timestamp,
    ) -> Outcome {
        let mut pending = Outcome::bare(request_id, conversation_id, Status::Pending, None);
        pending.asked_at = Some(now);
        Self::cancelled_in_line().outcome(pending, 0, now)
    }

    /// The settled outcome that this makes of the pending one.
    pub(super) fn outcome(self, pending: Outcome, submissions: u32, now: Timestamp) -> Outcome {
        let mut outcome = pending;
        outcome.status = self.status;
        outcome.state = None;
        outcome.queue = None;
        outcome.settled_at = Some(now);
        if let Some(answer) = &mut outcome.answer {
            answer.finish = self.finish;
        }
        outcome.error = self.error;
        outcome.route = self.route;
        outcome.receipt = Some(Receipt { submissions, ..self.receipt });
        outcome.capture = Some(capture());
        outcome.context = self.context.items;
        outcome
    }
}

/// A run under way: what is known of it so far.
pub(super) struct Run {
    pub(super) context: Context,
    /// Whether a provider that can bill may have been called.
    pub(super) called: bool,
    pub(super) first_text: Option<Duration>,
    provider: String,
    route: Route,
}

impl Run {
    pub(super) fn new(provider: &dyn Provider) -> Self {
        Self {
            context: Context::default(),
            called: false,
            first_text: None,
            provider: provider.name().to_owned(),
            route: provider.route(),
        }
    }

    /// Nothing was called: an answer that ignores the conversation would be paid for in vain.
    pub(super) fn without_context(self) -> End {
        let message = "The conversation's earlier turns could not be read, so nothing was sent.";
        let error = failure(FailureCode::Internal, message, true);
        self.end(Status::Failed, Some(error), Usage::default(), Duration::ZERO)
    }

    pub(super) fn stopped(self, stop: Stop, took: Duration) -> End {
        let (status, error) = match stop {
            Stop::Cancel => (Status::Cancelled, None),
            Stop::Interrupt => {
                let message = if self.called { RESTARTED } else { RESTARTED_FREE };
                let error = failure(FailureCode::ServerRestarted, message, true);
                (Status::Interrupted, Some(error))
            }
            Stop::Overdue(overdue) => {
                let error = failure(FailureCode::ProviderTimeout, &too_late(overdue), true);
                (Status::Failed, Some(error))
            }
        };
        self.end(status, error, Usage::default(), took)
    }

    pub(super) fn ended(mut self, ended: Result<Generated, ProviderError>, took: Duration) -> End {
        match ended {
            Ok(generated) => {
                let mut end = self.end(Status::Completed, None, generated.usage, took);
                end.finish = generated.finish;
                end.receipt.model = generated.model;
                end
            }
            Err(error) => {
                self.called &= error.called;
                let failed = failure(error.code, &error.message, error.retryable);
                self.end(Status::Failed, Some(failed), error.usage, took)
            }
        }
    }

    fn end(self, status: Status, error: Option<Failure>, usage: Usage, took: Duration) -> End {
        let counted = usage.input_tokens.is_some() || usage.output_tokens.is_some();
        let receipt = Receipt {
            provider: Some(self.provider),
            provider_calls: u32::from(self.called),
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            usage_estimated: counted.then_some(false),
            first_token_ms: self.first_text.map(millis),
            run_ms: Some(millis(took)),
            ..Receipt::default()
        };
        let mut end = End::new(status, error, receipt);
        end.route = Some(self.route);
        end.context = self.context;
        end
    }
}

fn too_late(overdue: Overdue) -> String {
    match overdue {
        Overdue::FirstByte(waited) => {
            format!("The model server did not begin to answer within {}.", spoken(waited))
        }
        Overdue::Silence(waited) => {
            format!("The model server fell silent for {} in mid answer.", spoken(waited))
        }
        Overdue::Run(waited) => format!("The answer was not complete after {}.", spoken(waited)),
    }
}

fn spoken(duration: Duration) -> String {
    match duration.as_secs() {
        seconds if seconds > 60 && seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

fn failure(code: FailureCode, message: &str, retryable: bool) -> Failure {
    Failure { code, message: message.to_owned(), retryable }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
