-- One row per provider reply, documents, changes, pins, what each directory last talked to, and what can be undone.

ALTER TABLE sessions ADD COLUMN pinned_at INTEGER;
ALTER TABLE sessions ADD COLUMN expires_after INTEGER;
CREATE INDEX messages_label ON messages (label) WHERE label IS NOT NULL;

CREATE TABLE replies (                  -- one row per provider reply; the figures of a turn are the sums of these
    message          INTEGER PRIMARY KEY, -- n of the reply; of the turn's first message: what was spent before it
    turn             INTEGER,           -- n of its turn; NULL for a summary, which no turn added
    session          INTEGER NOT NULL,  -- n of the session that paid for it
    model            TEXT,
    provider         TEXT,
    request_id       TEXT,
    input_tokens     INTEGER,
    output_tokens    INTEGER,
    cached_tokens    INTEGER,
    reasoning_tokens INTEGER,
    cost             REAL,
    started_at       INTEGER,           -- when the request was sent, if it is known
    first_token_at   INTEGER,
    finished_at      INTEGER NOT NULL
) STRICT;
INSERT INTO replies
SELECT last, n, session, model, provider, request_id, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost,
       NULL, first_token_at, coalesce(finished_at, started_at)
FROM turns WHERE coalesce(model, provider, request_id, input_tokens, output_tokens, cost) IS NOT NULL;

CREATE TABLE documents (                -- small JSON or bytes kept with a session, by name
    session    INTEGER NOT NULL,
    name       TEXT NOT NULL,
    revision   INTEGER NOT NULL,        -- counts the writes: compare-and-set
    json       TEXT,                    -- one of these two
    bytes      BLOB,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (session, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE directories (              -- what each directory last talked to
    path    TEXT PRIMARY KEY,
    session INTEGER NOT NULL,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pins (
    message INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL
) STRICT;

CREATE TABLE changes (                  -- every change in one order; the oldest are pruned, the newest never
    n       INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    session TEXT,                       -- its key, which outlives it
    message TEXT                        -- its id, likewise
) STRICT;

CREATE TABLE journal (                  -- what undo() can take back
    n       INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    verb    TEXT NOT NULL,
    session TEXT,
    inverse TEXT NOT NULL               -- JSON: what takes it back
) STRICT;
INSERT INTO directories
SELECT directory, n, max(updated_at) FROM (SELECT * FROM sessions ORDER BY activity) s
WHERE directory IS NOT NULL AND parent IS NULL GROUP BY directory;

-- The next search builds the index again. With contentless_delete, SQLite before 3.43 refuses the file.
DROP TABLE search;
CREATE VIRTUAL TABLE search USING fts5 (words, content='', tokenize='unicode61 remove_diacritics 2');
UPDATE state SET indexed = 0;
