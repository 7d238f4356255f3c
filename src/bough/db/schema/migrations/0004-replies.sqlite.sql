-- One row per provider reply, documents, changes, and what each directory last talked to.

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
INSERT OR IGNORE INTO replies           -- a file that was edited by hand may name one last message twice
SELECT last, n, session, model, provider, request_id, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost,
       NULL, first_token_at, coalesce(finished_at, started_at)
FROM turns WHERE coalesce(model, provider, request_id, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost)
                 IS NOT NULL;

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

CREATE TABLE changes (                  -- every change in one order; the oldest are pruned, the newest never
    n       INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    session TEXT,                       -- its key, which outlives it
    message TEXT                        -- its id, likewise
) STRICT;

-- Activity is a time from now on, so that imported conversations have their place: unique, and in the order of last use.
ALTER TABLE state ADD COLUMN activity INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET activity = placed.at FROM (
    SELECT n, place + max(updated_at - place) OVER (ORDER BY place) AS at
    FROM (SELECT n, updated_at, row_number() OVER (ORDER BY updated_at, activity) AS place FROM sessions)
) placed WHERE placed.n = sessions.n;

INSERT INTO directories
SELECT directory, n, max(updated_at) FROM (SELECT * FROM sessions ORDER BY activity) s
WHERE directory IS NOT NULL AND parent IS NULL GROUP BY directory;

-- The next search builds the index again. With contentless_delete, SQLite before 3.43 refuses the file.
DROP TABLE search;
CREATE VIRTUAL TABLE search USING fts5 (words, content='', tokenize='unicode61 remove_diacritics 2');
UPDATE state SET indexed = 0;

-- Views for other programs: their names and columns are stable, and described in docs/sql.md. SQLite 3.37 reads them.
CREATE VIEW bough_messages AS
SELECT m.n, m.id, p.id AS parent_id, t.id AS turn_id, s.key AS session, m.role, coalesce(m.kind, 'message') AS kind,
       m.label, m.error, r.model, r.provider, r.cost,
       strftime('%Y-%m-%dT%H:%M:%S', m.created_at / 1000000, 'unixepoch')
           || printf('.%06dZ', m.created_at % 1000000) AS created_at,
       CASE WHEN m.blocks = 0 THEN CASE WHEN m.type IN ('text', 'tool_result', 'tool_error') THEN m.content END
       ELSE (SELECT CASE WHEN max(b.packed IS NOT NULL OR b.blob IS NOT NULL) = 0
                    THEN group_concat(b.content, char(10)) END
             FROM (SELECT 0 AS position, m.type AS type, m.content AS content, m.packed AS packed, m.blob AS blob
                   UNION ALL SELECT position, type, content, packed, blob FROM blocks WHERE message = m.n
                   ORDER BY position) b
             WHERE b.type IN ('text', 'tool_result', 'tool_error')) END AS text,
       (SELECT coalesce(sum(coalesce(length(CAST(b.content AS BLOB)), x.size, length(b.packed))), 0)
        FROM (SELECT m.type AS type, m.content AS content, m.packed AS packed, m.blob AS blob
              UNION ALL SELECT type, content, packed, blob FROM blocks WHERE message = m.n) b
        LEFT JOIN blobs x ON x.n = b.blob WHERE b.type IN ('text', 'tool_result', 'tool_error')) AS size
FROM messages m LEFT JOIN messages p ON p.n = m.parent LEFT JOIN messages t ON t.n = m.turn
LEFT JOIN turns u ON u.n = m.turn LEFT JOIN sessions s ON s.n = u.session LEFT JOIN replies r ON r.message = m.n;

CREATE VIEW bough_replies AS
SELECT m.id AS message_id, t.id AS turn_id, s.key AS session, r.model, r.provider, r.request_id,
       r.input_tokens, r.output_tokens, r.cached_tokens, r.reasoning_tokens, r.cost,
       strftime('%Y-%m-%dT%H:%M:%S', r.started_at / 1000000, 'unixepoch')
           || printf('.%06dZ', r.started_at % 1000000) AS started_at,
       strftime('%Y-%m-%dT%H:%M:%S', r.first_token_at / 1000000, 'unixepoch')
           || printf('.%06dZ', r.first_token_at % 1000000) AS first_token_at,
       strftime('%Y-%m-%dT%H:%M:%S', r.finished_at / 1000000, 'unixepoch')
           || printf('.%06dZ', r.finished_at % 1000000) AS finished_at
FROM replies r LEFT JOIN messages m ON m.n = r.message LEFT JOIN messages t ON t.n = r.turn
LEFT JOIN sessions s ON s.n = r.session;

CREATE VIEW bough_turns AS
SELECT u.n, m.id, s.key AS session, u.status, p.id AS parent_id, l.id AS last_id, c.id AS caller_id,
       u.model, u.provider, u.input_tokens, u.output_tokens, u.cached_tokens, u.reasoning_tokens, u.cost, u.error,
       strftime('%Y-%m-%dT%H:%M:%S', u.started_at / 1000000, 'unixepoch')
           || printf('.%06dZ', u.started_at % 1000000) AS started_at,
       strftime('%Y-%m-%dT%H:%M:%S', u.finished_at / 1000000, 'unixepoch')
           || printf('.%06dZ', u.finished_at % 1000000) AS finished_at
FROM turns u LEFT JOIN messages m ON m.n = u.n LEFT JOIN messages p ON p.n = u.parent
LEFT JOIN messages l ON l.n = u.last LEFT JOIN messages c ON c.n = u.caller LEFT JOIN sessions s ON s.n = u.session;

CREATE VIEW bough_sessions AS
SELECT s.key AS session, s.channel, s.channel_id, s.directory, s.title, s.agent, s.model, h.id AS head_id,
       p.key AS parent, s.forked_from,
       (SELECT count(*) FROM turns u WHERE u.session = s.n) AS turns,
       r.input_tokens, r.output_tokens, r.cost,
       strftime('%Y-%m-%dT%H:%M:%S', s.created_at / 1000000, 'unixepoch')
           || printf('.%06dZ', s.created_at % 1000000) AS created_at,
       strftime('%Y-%m-%dT%H:%M:%S', s.updated_at / 1000000, 'unixepoch')
           || printf('.%06dZ', s.updated_at % 1000000) AS updated_at
FROM sessions s LEFT JOIN messages h ON h.n = s.head LEFT JOIN sessions p ON p.n = s.parent
LEFT JOIN (SELECT session, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(cost) AS cost
           FROM replies GROUP BY session) r ON r.session = s.n;
