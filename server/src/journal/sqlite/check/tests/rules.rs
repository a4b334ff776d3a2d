//! One archive a rule, broken in just that way.

use super::legal::{
    ARRIVED, CALLING, CANCELLED, COMPLETED, FAILED, INTERRUPTED, PUT_BACK, QUEUED, RETRY, UNHEARD,
};
use super::*;

/// Changes an ask.
fn set(id: u128, columns: &str) -> String {
    format!("UPDATE asks SET {columns} WHERE request_id = {};", blob(id))
}

fn blob(id: u128) -> String {
    format!("x'{id:032x}'")
}

fn of_conversation(id: u128, columns: &str) -> String {
    format!("UPDATE conversations SET {columns} WHERE id = {};", blob(id))
}

/// What to break, and what is then said of it.
type Breakage = (String, Vec<String>);

fn one(sql: impl Into<String>, line: impl Into<String>) -> Breakage {
    (sql.into(), vec![line.into()])
}

fn whole(sql: &str, line: &str) -> Breakage {
    one(sql, format!("archive: {line}"))
}

/// Breaks the schema, so that nothing else is looked at.
fn schema(sql: &str, line: &str) -> Breakage {
    let unknown = "archive: what it holds was not examined, for its schema is not the known one";
    (sql.to_owned(), vec![format!("archive: {line}"), unknown.to_owned()])
}

/// Changes the pieces of the ask that is being called; `ITS` stands for those.
fn pieces(sql: &str) -> String {
    let its = format!("ask = (SELECT id FROM asks WHERE request_id = {})", blob(CALLING));
    sql.replace("ITS", &its)
}

fn of_the_archive() -> Vec<Breakage> {
    vec![
        whole("DELETE FROM archive", "something is kept in it, and it has no identity"),
        whole(
            "INSERT INTO archive (only_row, id, epoch, proofs, confirmed, is_backup)
             SELECT 2, id, epoch, proofs, confirmed, is_backup FROM archive",
            "it has more than one identity",
        ),
        whole("UPDATE archive SET id = 'a.b'", "its id cannot be part of an owner"),
        whole("UPDATE archive SET id = ''", "its id cannot be part of an owner"),
        whole(
            "UPDATE archive SET proofs = -1",
            "no process can have counted its epochs and proofs so",
        ),
        whole(
            "UPDATE archive SET is_backup = 7",
            "its confirmed group of writes, or whether it is a backup, is no such thing",
        ),
        whole(
            "UPDATE archive SET confirmed = -2",
            "its confirmed group of writes, or whether it is a backup, is no such thing",
        ),
        one(
            "UPDATE principals SET key = ''".to_owned(),
            "principal 1: its key cannot be part of an owner, or it has no name".to_owned(),
        ),
        (
            "DELETE FROM asks; DELETE FROM conversations; DELETE FROM pieces;
             DELETE FROM principals;"
                .to_owned(),
            vec!["archive: its local principal is missing".to_owned()],
        ),
        whole("PRAGMA application_id = 7", "it is not marked as Holdfast's (application id 0x7)"),
        whole("PRAGMA user_version = -3", "its format is -3, which no holdfast has written"),
    ]
}

fn of_the_schema() -> Vec<Breakage> {
    vec![
        schema("DROP INDEX asks_by_retry_of", "index asks_by_retry_of is missing"),
        whole("CREATE TABLE theirs (x)", "table theirs does not belong there"),
        schema("ALTER TABLE asks ADD COLUMN x TEXT", "table asks is not as this version makes it"),
        schema("DROP TABLE pieces", "table pieces is missing"),
    ]
}

fn of_conversations() -> Vec<Breakage> {
    vec![
        (
            format!("{}{}", of_conversation(3, "principal = 9"), set(PUT_BACK, "principal = 9")),
            vec![
                conversation(3, "it belongs to a principal that does not exist"),
                ask(PUT_BACK, "it belongs to a principal that does not exist"),
            ],
        ),
        (
            format!(
                "UPDATE conversations SET id = x'00' WHERE id = {};
                 UPDATE asks SET conversation_id = x'00' WHERE conversation_id = {}",
                blob(3),
                blob(3)
            ),
            vec![
                "conversation 00: its id is none".to_owned(),
                ask(PUT_BACK, "one of its ids is none"),
            ],
        ),
        one(
            format!(
                "INSERT INTO conversations
                     (principal, id, title, created_at, updated_at, last_seq, number)
                 VALUES (1, {}, 'Title', 1, 1, 1, 99)",
                blob(9)
            ),
            conversation(9, "it has no ask"),
        ),
        (
            format!("{}{}", of_conversation(3, "last_seq = 0"), set(PUT_BACK, "seq = 0")),
            vec![
                conversation(3, "its last place was never taken"),
                ask(PUT_BACK, "its place is none that its conversation has given"),
            ],
        ),
        one(
            of_conversation(1, "updated_at = -1"),
            conversation(1, "its times are outside the calendar"),
        ),
        one(
            of_conversation(1, "title = ' '"),
            conversation(1, "its title is not one line of text"),
        ),
        one(
            of_conversation(1, "title = 'a' || char(10) || 'b'"),
            conversation(1, "its title is not one line of text"),
        ),
        one(
            of_conversation(1, "title = CAST(x'ff' AS TEXT)"),
            conversation(1, "its title is not one line of text"),
        ),
        one(
            of_conversation(1, "title = printf('%.201c', 'x')"),
            conversation(1, "its title is not one line of text"),
        ),
    ]
}

fn of_asks() -> Vec<Breakage> {
    vec![
        one(
            set(UNHEARD, "principal = 9"),
            ask(UNHEARD, "it belongs to a principal that does not exist"),
        ),
        one(set(UNHEARD, "conversation_id = x'0102'"), ask(UNHEARD, "one of its ids is none")),
        one(
            format!("DELETE FROM conversations WHERE id = {}", blob(3)),
            ask(PUT_BACK, "it has a place in a conversation that does not exist"),
        ),
        one(
            set(QUEUED, "seq = 99"),
            ask(QUEUED, "its place is none that its conversation has given"),
        ),
        one(
            set(COMPLETED, "fingerprint = NULL"),
            ask(
                COMPLETED,
                "of its question, its place and its fingerprint some are there and some are not",
            ),
        ),
        one(
            set(PUT_BACK, "fingerprint = NULL, question = NULL, seq = NULL"),
            ask(PUT_BACK, "it has no question, and was not cancelled before it arrived"),
        ),
        one(
            set(UNHEARD, "submissions = 1"),
            ask(UNHEARD, "only its cancel was heard of, and yet it was submitted, run or answered"),
        ),
        one(
            set(PUT_BACK, "state = 'waiting'"),
            ask(PUT_BACK, "its mark is none of accepted, calling and settled"),
        ),
        one(set(QUEUED, "epoch = 1"), ask(QUEUED, "it is accepted, and yet a process runs it")),
        one(
            set(QUEUED, "provider = 'openai'"),
            ask(QUEUED, "it was never started, and yet it has a provider"),
        ),
        one(
            set(QUEUED, "run_ms = 1"),
            ask(QUEUED, "it has not settled, and yet it has an outcome"),
        ),
        one(
            set(CALLING, "settled_at = 1"),
            ask(CALLING, "it has not settled, and yet it has an outcome"),
        ),
        one(
            set(CALLING, "billable = NULL"),
            ask(
                CALLING,
                "it is being called, and nobody can say by which process, how often, whom, or \
                 whether that can be billed",
            ),
        ),
        one(
            set(CALLING, "epoch = 2"),
            ask(CALLING, "it was started by a process that there has not been yet"),
        ),
        one(
            set(QUEUED, "state = 'calling', epoch = 1, starts = 1, provider = 'p', billable = 1"),
            ask(
                QUEUED,
                "it is being called, and an earlier one of its conversation has not settled",
            ),
        ),
        one(
            set(COMPLETED, "run_until = 1"),
            ask(COMPLETED, "it has a deadline, and is not being called"),
        ),
        one(
            set(COMPLETED, "submissions = 0"),
            ask(COMPLETED, "it was never submitted, and not cancelled before it arrived either"),
        ),
        one(set(COMPLETED, "run_ms = -1"), ask(COMPLETED, "one of its counts is below zero")),
        one(set(COMPLETED, "born = -1"), ask(COMPLETED, "one of its counts is below zero")),
        one(
            set(COMPLETED, "remember = 2"),
            ask(COMPLETED, "one of its yes or no answers is neither"),
        ),
        one(set(COMPLETED, "asked_at = -1"), ask(COMPLETED, "its times are outside the calendar")),
    ]
}

fn of_retries() -> Vec<Breakage> {
    vec![
        one(
            set(ARRIVED, &format!("retry_of = {}", blob(ARRIVED))),
            ask(ARRIVED, "it repeats itself"),
        ),
        one(
            set(RETRY, &format!("retry_of = {}", blob(CALLING))),
            ask(RETRY, "it repeats what is no settled ask of its conversation"),
        ),
        one(
            set(RETRY, &format!("retry_of = {}", blob(ARRIVED))),
            ask(RETRY, "it repeats what is no settled ask of its conversation"),
        ),
    ]
}

fn of_outcomes() -> Vec<Breakage> {
    vec![
        one(
            set(COMPLETED, "settled_at = NULL"),
            ask(COMPLETED, "it has settled without a status or a time"),
        ),
        one(
            set(COMPLETED, "status = 'done'"),
            ask(COMPLETED, "its status is none of completed, failed, cancelled and interrupted"),
        ),
        one(set(COMPLETED, "answer = NULL"), ask(COMPLETED, "it was completed, and has no answer")),
        one(
            set(CANCELLED, "error_code = 'internal'"),
            ask(CANCELLED, "it ended well or was cancelled, and yet it has an error"),
        ),
        one(
            set(INTERRUPTED, "error_message = ' '"),
            ask(INTERRUPTED, "it failed or was interrupted, and nothing says why"),
        ),
        one(
            set(FAILED, "error_code = NULL"),
            ask(FAILED, "it failed or was interrupted, and nothing says why"),
        ),
        one(
            set(COMPLETED, "provider_calls = 2"),
            ask(
                COMPLETED,
                "its receipt does not say whether a provider was called, or says that more than \
                 one was",
            ),
        ),
        one(
            set(COMPLETED, "starts = 0"),
            ask(COMPLETED, "its receipt counts a call that it was never marked for"),
        ),
        one(
            set(COMPLETED, "currency = NULL"),
            ask(
                COMPLETED,
                "its receipt has a cost without a currency, or a currency without a cost",
            ),
        ),
    ]
}

fn of_pieces() -> Vec<Breakage> {
    vec![
        one(
            set(CALLING, "state = 'accepted', epoch = NULL, silent_until = NULL, run_until = NULL"),
            ask(CALLING, "there is partial text of it, and it is not being called"),
        ),
        one(
            pieces("DELETE FROM pieces WHERE ITS AND text_offset = 7 AND kind = 'answer'"),
            ask(CALLING, "the pieces of its partial text overlap, or some are missing"),
        ),
        one(
            pieces("UPDATE pieces SET text = 'Grüßen' WHERE ITS AND text_offset = 0"),
            ask(CALLING, "the pieces of its partial text overlap, or some are missing"),
        ),
        one(
            pieces(
                "INSERT INTO pieces SELECT ask, kind, 13, '' FROM pieces WHERE ITS
                     AND text_offset = 0",
            ),
            ask(CALLING, "a piece of its partial text is empty, or of no known kind"),
        ),
        one(
            pieces("UPDATE pieces SET text = CAST(x'ffff' AS TEXT) WHERE ITS AND text_offset = 7"),
            ask(CALLING, "a piece of its partial text is not UTF-8"),
        ),
        whole("UPDATE pieces SET ask = 999", "there is partial text of no ask"),
    ]
}

fn of_reading() -> Vec<Breakage> {
    vec![
        one(
            set(COMPLETED, "question = ' Why?'"),
            ask(COMPLETED, "its question is blank, too long, not trimmed, or holds NUL"),
        ),
        one(
            set(COMPLETED, "question = 'a' || char(0)"),
            ask(COMPLETED, "its question is blank, too long, not trimmed, or holds NUL"),
        ),
        one(
            set(COMPLETED, "question = printf('%.32769c', 'x')"),
            ask(COMPLETED, "its question is blank, too long, not trimmed, or holds NUL"),
        ),
        one(
            set(COMPLETED, "answer = char(10)"),
            ask(COMPLETED, "it was completed, and has no answer"),
        ),
        one(
            set(COMPLETED, "answer = CAST(x'c328' AS TEXT)"),
            ask(COMPLETED, "it cannot be read: its text or its successor"),
        ),
        one(
            set(COMPLETED, "fingerprint = x'00'"),
            ask(COMPLETED, "it cannot be read: fingerprint"),
        ),
        one(set(COMPLETED, "context = '[{]'"), ask(COMPLETED, "it cannot be read: context")),
        one(
            set(FAILED, "error_code = 'gremlins'"),
            ask(FAILED, "a word in it is none that this version writes: error_code"),
        ),
        one(
            set(COMPLETED, "capture = '{\"stored\":false,\"reason\":\"whim\"}'"),
            ask(COMPLETED, "what is kept as JSON in it is not as this version writes it: capture"),
        ),
    ]
}

#[test]
fn each_rule_finds_what_breaks_it_and_nothing_else() {
    let mut seen = String::new();
    let mut wrong = Vec::new();
    for (sql, lines) in [
        of_the_archive(),
        of_the_schema(),
        of_conversations(),
        of_asks(),
        of_retries(),
        of_outcomes(),
        of_pieces(),
        of_reading(),
    ]
    .concat()
    {
        let folder = legal();
        force(folder.path(), &sql);
        let found = faults(folder.path());
        seen.push_str(&lines.concat());
        if found != lines {
            wrong.push(format!("{sql}\n  found    {found:?}\n  expected {lines:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let sentences = RULES.iter().copied().flatten().map(|rule| rule.says);
    let others = [
        archive::NO_IDENTITY,
        archive::TWO_IDENTITIES,
        archive::UNUSABLE_ID,
        archive::UNCOUNTED,
        archive::UNTOLD,
        archive::NO_LOCAL,
        archive::UNUSABLE_PRINCIPAL,
        conversations::TITLE_SAYS,
        pieces::TEXT_SAYS,
        pieces::STRAY,
        read::NO_QUESTION,
        read::NO_ANSWER,
        read::WORD,
        read::JSON,
        read::UNREADABLE,
    ];
    for sentence in sentences.chain(others) {
        assert!(seen.contains(sentence), "nothing here breaks the rule “{sentence}”");
    }
}

#[test]
fn what_is_spoilt_a_thousand_times_is_counted() {
    let folder = legal();
    force(
        folder.path(),
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1000)
         INSERT INTO conversations
             (principal, id, title, created_at, updated_at, last_seq, number)
         SELECT 1, CAST(printf('%016d', n) AS BLOB), 'Title', 1, 1, 1, 99 + n FROM n",
    );
    let faults = faults(folder.path());
    assert_eq!(faults.len(), LINES + 1);
    assert_eq!(faults.last().unwrap(), "and 900 more like it: conversation … it has no ask");
}
