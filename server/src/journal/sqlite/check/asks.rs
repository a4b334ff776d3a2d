//! Asks: whose they are, where they stand, and how far they are.

use super::rule::{Rule, Subject};

const fn ask(says: &'static str, finds: &'static str) -> Rule {
    Rule { says, of: Subject::Ask, finds }
}

pub(super) const RULES: &[Rule] = &[
    ask(
        "it belongs to a principal that does not exist",
        "SELECT a.request_id FROM asks a
         WHERE NOT EXISTS (SELECT 1 FROM principals WHERE id = a.principal)",
    ),
    ask(
        "one of its ids is none",
        "SELECT a.request_id FROM asks a
         WHERE length(a.request_id) <> 16 OR length(a.conversation_id) <> 16
            OR length(a.retry_of) <> 16",
    ),
    ask(
        "it has a place in a conversation that does not exist",
        "SELECT a.request_id FROM asks a
         WHERE a.seq IS NOT NULL AND NOT EXISTS (SELECT 1 FROM conversations c
             WHERE c.principal = a.principal AND c.id = a.conversation_id)",
    ),
    ask(
        "its place is none that its conversation has given",
        "SELECT a.request_id FROM asks a JOIN conversations c
             ON c.principal = a.principal AND c.id = a.conversation_id
         WHERE a.seq < 1 OR a.seq > c.last_seq",
    ),
    ask(
        "of its question, its place and its fingerprint some are there and some are not",
        "SELECT a.request_id FROM asks a
         WHERE (a.question IS NULL) + (a.seq IS NULL) + (a.fingerprint IS NULL) NOT IN (0, 3)",
    ),
    ask(
        "it has no question, and was not cancelled before it arrived",
        "SELECT a.request_id FROM asks a
         WHERE a.question IS NULL AND a.seq IS NULL AND a.fingerprint IS NULL
           AND a.state IN ('accepted', 'calling', 'settled') AND a.status IS NOT 'cancelled'",
    ),
    ask(
        "only its cancel was heard of, and yet it was submitted, run or answered",
        "SELECT a.request_id FROM asks a
         WHERE a.question IS NULL AND a.seq IS NULL AND a.fingerprint IS NULL
           AND a.status = 'cancelled'
           AND (a.submissions <> 0 OR a.starts <> 0 OR a.provider_calls <> 0
                OR coalesce(a.epoch, a.provider, a.billable, a.answer, a.reasoning, a.retry_of,
                            a.language, a.model) IS NOT NULL)",
    ),
    ask(
        "its mark is none of accepted, calling and settled",
        "SELECT a.request_id FROM asks a WHERE a.state NOT IN ('accepted', 'calling', 'settled')",
    ),
    ask(
        "it is accepted, and yet a process runs it",
        "SELECT a.request_id FROM asks a WHERE a.state = 'accepted' AND a.epoch IS NOT NULL",
    ),
    ask(
        "it was never started, and yet it has a provider",
        "SELECT a.request_id FROM asks a WHERE a.state = 'accepted' AND a.starts = 0
             AND coalesce(a.provider, a.billable) IS NOT NULL",
    ),
    ask(
        "it has not settled, and yet it has an outcome",
        "SELECT a.request_id FROM asks a WHERE a.state IN ('accepted', 'calling')
             AND coalesce(a.status, a.settled_at, a.answer, a.reasoning, a.finish, a.error_code,
                          a.error_message, a.error_retryable, a.route, a.answered_by,
                          a.provider_calls, a.input_tokens, a.output_tokens, a.usage_estimated,
                          a.cost_micros, a.currency, a.first_token_ms, a.run_ms, a.capture,
                          a.context, a.context_missing) IS NOT NULL",
    ),
    ask(
        "it is being called, and nobody can say by which process, how often, whom, or whether that \
         can be billed",
        "SELECT a.request_id FROM asks a WHERE a.state = 'calling'
             AND (a.epoch IS NULL OR a.starts < 1 OR a.provider IS NULL OR a.billable IS NULL)",
    ),
    ask(
        "it was started by a process that there has not been yet",
        "SELECT a.request_id FROM asks a
         WHERE a.epoch < 1 OR a.epoch > (SELECT max(epoch) FROM archive)",
    ),
    ask(
        "it is being called, and an earlier one of its conversation has not settled",
        "SELECT a.request_id FROM asks a WHERE a.state = 'calling' AND EXISTS
             (SELECT 1 FROM asks b WHERE b.principal = a.principal
                 AND b.conversation_id = a.conversation_id AND b.seq < a.seq
                 AND b.state IN ('accepted', 'calling'))",
    ),
    ask(
        "it has a deadline, and is not being called",
        "SELECT a.request_id FROM asks a WHERE a.state <> 'calling'
             AND coalesce(a.silent_until, a.run_until) IS NOT NULL",
    ),
    ask(
        "it was never submitted, and not cancelled before it arrived either",
        "SELECT a.request_id FROM asks a WHERE a.submissions < 1
             AND NOT (a.submissions = 0 AND a.status IS 'cancelled' AND a.starts = 0)",
    ),
    ask(
        "one of its counts is below zero",
        "SELECT a.request_id FROM asks a
         WHERE min(a.starts, a.born, coalesce(a.silent_until, 0), coalesce(a.run_until, 0),
                   coalesce(a.input_tokens, 0), coalesce(a.output_tokens, 0),
                   coalesce(a.cost_micros, 0), coalesce(a.first_token_ms, 0),
                   coalesce(a.run_ms, 0)) < 0",
    ),
    ask(
        "one of its yes or no answers is neither",
        "SELECT a.request_id FROM asks a
         WHERE a.current NOT IN (0, 1) OR a.remember NOT IN (0, 1) OR a.billable NOT IN (0, 1)
            OR a.error_retryable NOT IN (0, 1) OR a.usage_estimated NOT IN (0, 1)",
    ),
    ask(
        "its times are outside the calendar",
        "SELECT a.request_id FROM asks a
         WHERE a.asked_at NOT BETWEEN 0 AND 253402300799999
            OR a.settled_at NOT BETWEEN 0 AND 253402300799999",
    ),
];

/// Which ask repeats which. That at most one repeats another is the rule of an index.
pub(super) const RETRIES: &[Rule] = &[
    ask("it repeats itself", "SELECT a.request_id FROM asks a WHERE a.retry_of = a.request_id"),
    ask(
        "it repeats what is no settled ask of its conversation",
        "SELECT a.request_id FROM asks a
         WHERE length(a.retry_of) = 16 AND NOT EXISTS (SELECT 1 FROM asks b
             WHERE b.principal = a.principal AND b.request_id = a.retry_of
               AND b.conversation_id = a.conversation_id AND b.state = 'settled')",
    ),
];
