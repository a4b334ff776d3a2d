-- Landed: never edit. A change of the schema is a new file with the next number.
-- Times are milliseconds since the Unix epoch, ids are the 16 bytes of a UUID.

CREATE TABLE archive (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    id       TEXT    NOT NULL, -- the archive's part of every owner
    epoch    INTEGER NOT NULL, -- of the process that may write
    proofs   INTEGER NOT NULL  -- counted up to prove that a commit is durable again
) STRICT;

CREATE TABLE principals (
    id   INTEGER PRIMARY KEY,
    key  TEXT NOT NULL UNIQUE, -- the principal's part of an owner
    name TEXT NOT NULL
) STRICT;

CREATE TABLE conversations (
    principal  INTEGER NOT NULL REFERENCES principals (id),
    id         BLOB    NOT NULL CHECK (length(id) = 16),
    title      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_seq   INTEGER NOT NULL,
    PRIMARY KEY (principal, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE asks (
    id              INTEGER PRIMARY KEY,
    principal       INTEGER NOT NULL REFERENCES principals (id),
    request_id      BLOB    NOT NULL CHECK (length(request_id) = 16),
    conversation_id BLOB    NOT NULL CHECK (length(conversation_id) = 16),
    seq             INTEGER,
    state           TEXT    NOT NULL CHECK (state IN ('accepted', 'calling', 'settled')),
    fingerprint     BLOB             CHECK (length(fingerprint) = 32),
    question        TEXT,
    current         INTEGER NOT NULL DEFAULT 0,
    remember        INTEGER NOT NULL DEFAULT 1,
    language        TEXT,
    model           TEXT,
    retry_of        BLOB             CHECK (length(retry_of) = 16),
    asked_at        INTEGER NOT NULL,
    submissions     INTEGER NOT NULL,

    -- Its run.
    epoch           INTEGER,          -- of the process that started it
    starts          INTEGER NOT NULL DEFAULT 0,
    provider        TEXT,
    billable        INTEGER,

    -- Its outcome.
    status          TEXT CHECK (status IN ('completed', 'failed', 'cancelled', 'interrupted')),
    settled_at      INTEGER,
    answer          TEXT,
    reasoning       TEXT,
    finish          TEXT,
    error_code      TEXT,
    error_message   TEXT,
    error_retryable INTEGER,
    route           TEXT,
    answered_by     TEXT,             -- the model, as the provider names it
    provider_calls  INTEGER,
    input_tokens    INTEGER,
    output_tokens   INTEGER,
    usage_estimated INTEGER,
    cost_micros     INTEGER,
    currency        TEXT,
    first_token_ms  INTEGER,
    run_ms          INTEGER,
    capture         TEXT,             -- JSON
    context         TEXT,             -- JSON
    context_missing TEXT,             -- JSON

    UNIQUE (principal, request_id),
    UNIQUE (principal, conversation_id, seq),
    CHECK ((state = 'settled') = (status IS NOT NULL)),
    CHECK ((state = 'settled') = (settled_at IS NOT NULL)),
    -- Only an ask that was cancelled before it arrived may lack its question, and its place.
    CHECK ((question IS NULL) = (seq IS NULL)),
    CHECK ((question IS NULL) = (fingerprint IS NULL)),
    CHECK (question IS NOT NULL OR status = 'cancelled')
) STRICT;

-- At most one ask repeats another.
CREATE UNIQUE INDEX asks_by_retry_of ON asks (principal, retry_of) WHERE retry_of IS NOT NULL;
CREATE INDEX asks_unsettled ON asks (principal, conversation_id, seq) WHERE state <> 'settled';

-- What has arrived of the answers under way; joined into the ask when it settles.
CREATE TABLE pieces (
    ask         INTEGER NOT NULL REFERENCES asks (id) ON DELETE CASCADE,
    kind        TEXT    NOT NULL CHECK (kind IN ('answer', 'reasoning')),
    text_offset INTEGER NOT NULL, -- in bytes
    text        TEXT    NOT NULL,
    PRIMARY KEY (ask, kind, text_offset)
) STRICT, WITHOUT ROWID;
