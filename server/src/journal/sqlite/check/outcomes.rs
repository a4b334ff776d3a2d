//! Outcomes: what a settled ask has, by how it ended.

use super::rule::{Rule, Subject};

const fn settled(says: &'static str, finds: &'static str) -> Rule {
    Rule { says, of: Subject::Ask, finds }
}

pub(super) const RULES: &[Rule] = &[
    settled(
        "it has settled without a status or a time",
        "SELECT a.request_id FROM asks a WHERE a.state = 'settled'
             AND (a.status IS NULL OR a.settled_at IS NULL)",
    ),
    settled(
        "its status is none of completed, failed, cancelled and interrupted",
        "SELECT a.request_id FROM asks a WHERE a.state = 'settled'
             AND a.status NOT IN ('completed', 'failed', 'cancelled', 'interrupted')",
    ),
    settled(
        "it ended well or was cancelled, and yet it has an error",
        "SELECT a.request_id FROM asks a WHERE a.state = 'settled'
             AND a.status IN ('completed', 'cancelled')
             AND coalesce(a.error_code, a.error_message, a.error_retryable) IS NOT NULL",
    ),
    settled(
        "it failed or was interrupted, and nothing says why",
        "SELECT a.request_id FROM asks a WHERE a.state = 'settled'
             AND a.status IN ('failed', 'interrupted')
             AND (a.error_code IS NULL OR a.error_message IS NULL OR trim(a.error_message) = ''
                  OR a.error_retryable IS NULL)",
    ),
    settled(
        "its receipt does not say whether a provider was called, or says that more than one was",
        "SELECT a.request_id FROM asks a WHERE a.state = 'settled'
             AND (a.provider_calls IS NULL OR a.provider_calls NOT IN (0, 1))",
    ),
    settled(
        "its receipt counts a call that it was never marked for",
        "SELECT a.request_id FROM asks a WHERE a.state = 'settled'
             AND a.provider_calls = 1 AND a.question IS NOT NULL
             AND (a.starts < 1 OR a.provider IS NULL OR a.billable IS NOT 1)",
    ),
    settled(
        "its receipt has a cost without a currency, or a currency without a cost",
        "SELECT a.request_id FROM asks a WHERE a.state = 'settled'
             AND ((a.cost_micros IS NULL) <> (a.currency IS NULL)
                  OR a.currency NOT GLOB '[A-Z][A-Z][A-Z]')",
    ),
];
