-- Landed: never edit. A change of the schema is a new file with the next number.

-- The number of a conversation is its part of the row numbers of the search: what is found names its
-- conversation without being looked up.
ALTER TABLE conversations ADD COLUMN number        INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN system_prompt TEXT; -- put first in what a provider is shown
UPDATE conversations SET number = numbered.number
    FROM (SELECT principal, id, row_number() OVER (ORDER BY created_at, principal, id) AS number
          FROM conversations) AS numbered
    WHERE numbered.principal = conversations.principal AND numbered.id = conversations.id;
CREATE UNIQUE INDEX conversations_by_number ON conversations (number);

-- What settled asks are searched by: their tokens, as Holdfast cuts them, without the texts. A row's
-- number is its conversation's, times 2^24, plus its place there.
CREATE VIRTUAL TABLE search USING fts5 (question, answer, content = '', tokenize = 'ascii');

-- The asks that have settled and are not in the index yet, by their ids: it is written behind them, many
-- at once.
CREATE TABLE unindexed (ask INTEGER PRIMARY KEY) STRICT;
INSERT INTO unindexed (ask) SELECT id FROM asks WHERE state = 'settled' AND question IS NOT NULL;

-- Which way of cutting made the index. Where it is another, all of it is made anew.
ALTER TABLE archive ADD COLUMN search_version INTEGER NOT NULL DEFAULT 0;

-- Conversations that somebody has deleted, for good: their ids are never used again. While there is one
-- of the id, what it holds is only hidden.
CREATE TABLE deletions (
    principal       INTEGER NOT NULL REFERENCES principals (id),
    conversation_id BLOB    NOT NULL CHECK (length(conversation_id) = 16),
    deleted_at      INTEGER NOT NULL, -- by the wall clock
    deleted_up      INTEGER NOT NULL, -- by the clock that counts through sleep, since the machine started
    PRIMARY KEY (principal, conversation_id)
) STRICT, WITHOUT ROWID;

-- Whether bytes of what was purged may still be in the file (2), or in the log alone (1).
ALTER TABLE archive ADD COLUMN unscrubbed INTEGER NOT NULL DEFAULT 0;

-- The order of the list.
CREATE INDEX conversations_by_activity ON conversations (principal, updated_at, id, number);
