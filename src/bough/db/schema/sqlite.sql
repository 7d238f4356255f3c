-- The current schema. An older file is migrated to it (migrations/); a test proves that both ways agree.
--
-- Rows have integer keys (n), which references use; the short id that people type is a unique column.
-- Times are microseconds since 1970, UTC. JSON is text: a replayed tool call must have the same bytes.

CREATE TABLE messages (
    n          INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    parent     INTEGER,                 -- n of the message that it follows; `verify` checks that it exists
    blocks     INTEGER NOT NULL DEFAULT 0, -- the number of its rows in `blocks`
    turn       INTEGER,                 -- n of the first message of its turn
    role       TEXT NOT NULL,
    kind       TEXT,                    -- NULL for an ordinary message, 'summary'
    covers     INTEGER,                 -- of a summary: n of the last node it replaces
    summary    INTEGER,                 -- n of the newest summary on the path, itself included
    weight     INTEGER NOT NULL DEFAULT 0, -- estimated tokens of the path up to here
    label      TEXT,
    error      INTEGER NOT NULL,
    digest     BLOB NOT NULL,
    envelope   TEXT,
    created_at INTEGER NOT NULL,
    type       TEXT,                    -- its first block, as in `blocks`; NULL if it has none
    modality   TEXT,
    mime       TEXT,
    call_id    TEXT,
    name       TEXT,
    content    TEXT,
    packed     BLOB,
    blob       INTEGER REFERENCES blobs (n),
    extra      TEXT,
    raw        TEXT,
    CHECK (parent < n)                  -- so every path ends, even in a file edited by hand
) STRICT;
CREATE INDEX messages_parent ON messages (parent) WHERE parent <> n - 1; -- other children follow their parents
CREATE INDEX messages_root ON messages (digest) WHERE parent IS NULL;
CREATE INDEX messages_label ON messages (label) WHERE label IS NOT NULL;
CREATE INDEX messages_blob ON messages (blob) WHERE blob IS NOT NULL;

CREATE TABLE blocks (                   -- every block after the first, which is in the row of its message
    message  INTEGER NOT NULL REFERENCES messages (n),
    position INTEGER NOT NULL CHECK (position > 0),
    inside   INTEGER,                   -- position of the row that this one belongs to
    type     TEXT NOT NULL,             -- text, thinking, tool_call, tool_result, tool_error, media, media_url,
                                        -- media_file, other; and extra, raw, envelope: JSON too long for its column
    modality TEXT,
    mime     TEXT,
    call_id  TEXT,
    name     TEXT,
    content  TEXT,                      -- text up to 8 KiB,
    packed   BLOB,                      -- or compressed: of older versions, and text that no column can hold,
    blob     INTEGER REFERENCES blobs (n), -- or long text and everything binary
    extra    TEXT,
    raw      TEXT,
    PRIMARY KEY (message, position)
) STRICT;
CREATE INDEX blocks_blob ON blocks (blob) WHERE blob IS NOT NULL;

CREATE TABLE blobs (
    n        INTEGER PRIMARY KEY,
    digest   BLOB NOT NULL UNIQUE,      -- SHA-256 of the content
    size     INTEGER NOT NULL,          -- of the content
    encoding TEXT,                      -- NULL for none, or 'zstd'
    refs     INTEGER NOT NULL           -- the number of blocks, also in the trash, that use it
) STRICT;

CREATE TABLE blob_bytes (               -- a table of its own: changing `refs` must not rewrite the bytes
    n     INTEGER PRIMARY KEY REFERENCES blobs (n),
    bytes BLOB NOT NULL
) STRICT;

CREATE TABLE sessions (
    n              INTEGER PRIMARY KEY,
    key            TEXT NOT NULL UNIQUE,
    channel        TEXT,
    channel_id     TEXT,
    directory      TEXT,
    head           INTEGER,             -- n of a message; no reference and no index: every turn writes it (see placed)
    revision       INTEGER NOT NULL,    -- counts the moves of the head
    activity       INTEGER NOT NULL,    -- the order of last use: the time, or more where a clock went back
    parent         INTEGER,             -- n of the session that delegated to this one
    parent_message INTEGER,             -- n of the message that did
    forked_from    TEXT,                -- key of the session it was forked from
    title          TEXT,
    agent          TEXT,
    model          TEXT,
    lease_turn     INTEGER,             -- n of the turn that is being written
    lease_owner    TEXT,
    lease_until    INTEGER,
    extra          TEXT,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,    -- when somebody last talked there
    pinned_at      INTEGER,             -- NULL for one that is not pinned
    expires_at     INTEGER,             -- when `clean` may take it; NULL for never,
    expires_after  INTEGER,             -- or microseconds after the last use
    placed         INTEGER              -- its head, unless that is of a turn of its own: `turns` leads to the others
) STRICT;
CREATE INDEX sessions_activity ON sessions (activity);
CREATE INDEX sessions_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_directory ON sessions (directory) WHERE directory IS NOT NULL;
CREATE INDEX sessions_placed ON sessions (placed) WHERE placed IS NOT NULL;

CREATE TABLE turns (
    n                   INTEGER PRIMARY KEY, -- n of its first message
    session             INTEGER NOT NULL,
    idempotency_key     TEXT,
    parent              INTEGER,             -- n of the message it continues
    last                INTEGER NOT NULL,    -- n of its last message
    status              TEXT NOT NULL,       -- running, complete, stopped, interrupted, failed
    model               TEXT,
    provider            TEXT,
    request_id          TEXT,
    input_tokens        INTEGER,
    output_tokens       INTEGER,
    cached_tokens       INTEGER,
    reasoning_tokens    INTEGER,
    cost                REAL,
    context_tokens      INTEGER,             -- tokens of the dialog after its last reply, counted by the provider
    instructions_digest BLOB,
    caller              INTEGER,             -- n of the message that delegated it
    caller_call         TEXT,
    error               TEXT,
    metadata            TEXT,
    started_at          INTEGER NOT NULL,
    first_token_at      INTEGER,
    finished_at         INTEGER
) STRICT;
CREATE INDEX turns_session ON turns (session);
CREATE UNIQUE INDEX turns_idempotency ON turns (session, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX turns_running ON turns (n) WHERE status = 'running';

CREATE TABLE replies (                  -- one row per provider reply; the usage of a turn is their sum
    message          INTEGER PRIMARY KEY, -- n of the reply; or of the turn's first message, for usage before a reply
    turn             INTEGER,           -- n of its turn; NULL for a summary, which has no turn
    session          INTEGER NOT NULL,  -- n of the session that it is charged to
    model            TEXT,
    provider         TEXT,
    request_id       TEXT,
    input_tokens     INTEGER,
    output_tokens    INTEGER,
    cached_tokens    INTEGER,
    reasoning_tokens INTEGER,
    cost             REAL,
    started_at       INTEGER,           -- when the request was sent; NULL if unknown
    first_token_at   INTEGER,
    finished_at      INTEGER NOT NULL
) STRICT;

CREATE TABLE sketches (                 -- the partial content of a reply that is being received
    turn    INTEGER PRIMARY KEY,
    content TEXT NOT NULL               -- JSON: the label, and pairs of a block's type and its text
) STRICT;

CREATE TABLE documents (                -- small JSON or bytes kept with a session, by name
    session    INTEGER NOT NULL,
    name       TEXT NOT NULL,
    revision   INTEGER NOT NULL,        -- counts the writes, for compare-and-set
    json       TEXT,                    -- one of the two is NULL
    bytes      BLOB,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (session, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE directories (              -- the session last used in each directory
    path    TEXT PRIMARY KEY,
    session INTEGER NOT NULL,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX directories_session ON directories (session);

CREATE TABLE changes (                  -- all changes in one order; old ones are pruned, the newest never
    n       INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    session TEXT,                       -- its key, which remains after a deletion
    message TEXT                        -- its id, which remains too
) STRICT;

CREATE TABLE pins (                     -- messages that upkeep keeps
    message INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL
) STRICT;

CREATE TABLE journal (                  -- how to undo the latest moves, deletions, titles and labels; pruned as `changes`
    n       INTEGER PRIMARY KEY,        -- n of its change
    at      INTEGER NOT NULL,
    verb    TEXT NOT NULL,
    session INTEGER,                    -- n of the session that it belongs to
    message INTEGER,                    -- n of a message that was labelled or pinned
    before  TEXT,                       -- JSON: the state that undoing gives back,
    after   TEXT,                       -- and the state that it requires
    trash   TEXT                        -- id of the entry of the trash with what was deleted
) STRICT;
CREATE INDEX journal_trash ON journal (trash) WHERE trash IS NOT NULL;

CREATE TABLE trash (
    n          INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    deleted_at INTEGER NOT NULL,
    reason     TEXT NOT NULL,
    messages   INTEGER NOT NULL,
    payload    BLOB NOT NULL            -- the deleted rows
) STRICT;

CREATE TABLE trash_names (              -- ids of messages and keys of sessions in the trash: to find them, and
    name  TEXT NOT NULL,                -- to keep their ids from new messages
    trash INTEGER NOT NULL REFERENCES trash (n) ON DELETE CASCADE,
    PRIMARY KEY (name, trash)
) STRICT, WITHOUT ROWID;
CREATE INDEX trash_names_trash ON trash_names (trash);

CREATE TABLE server_tokens (            -- for users and programs of a server; the token itself is not stored
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    tenant     TEXT,                    -- the namespace that it opens; NULL is this one
    scopes     TEXT NOT NULL,           -- separated by spaces
    hash       BLOB NOT NULL,           -- SHA-256 of the secret
    created_at INTEGER NOT NULL,
    expires_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE imported_files (           -- files that imports have read: those that are unchanged are not read again
    path   TEXT NOT NULL,
    source TEXT NOT NULL,               -- the importer
    size   INTEGER NOT NULL,
    mtime  INTEGER NOT NULL,            -- nanoseconds
    tail   BLOB NOT NULL,               -- hash of its last bytes
    reader TEXT NOT NULL,               -- the version of bough that read it: a newer one may understand more
    PRIMARY KEY (path, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_inbox (            -- what came from a service; it is confirmed there once it is in here
    n            INTEGER PRIMARY KEY,
    channel      TEXT NOT NULL,
    delivery     TEXT NOT NULL,         -- what the service calls it: a message, a version of one, a button pressed
    conversation TEXT NOT NULL,         -- its events are handled one after another; also the session's key
    event        TEXT NOT NULL,          -- JSON
    state        TEXT NOT NULL,          -- waiting, working, done
    turn         TEXT,                  -- id of the turn that answers it
    received_at  INTEGER NOT NULL,
    UNIQUE (channel, delivery)
) STRICT;
CREATE INDEX channel_inbox_open ON channel_inbox (channel, n) WHERE state <> 'done';

CREATE TABLE channel_outbox (           -- the messages at the service that are one answer, in their order
    channel  TEXT NOT NULL,
    delivery TEXT NOT NULL,             -- the event that is answered
    position INTEGER NOT NULL,
    chat     TEXT NOT NULL,             -- where it is
    external TEXT NOT NULL,             -- its id there
    PRIMARY KEY (channel, delivery, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_chats (            -- what each conversation has been shown
    channel      TEXT NOT NULL,
    conversation TEXT NOT NULL,
    shown        TEXT,                  -- id of the head after the last answer
    PRIMARY KEY (channel, conversation)
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_members (          -- who was let in with a code, beside those of the configuration
    channel     TEXT NOT NULL,
    member      TEXT NOT NULL,
    name        TEXT NOT NULL,
    admitted_at INTEGER NOT NULL,
    PRIMARY KEY (channel, member)
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_codes (            -- codes that let somebody in, once
    channel    TEXT NOT NULL,
    hash       BLOB NOT NULL,           -- SHA-256 of the code
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (channel, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_spending (         -- what each member has spent on each day
    channel TEXT NOT NULL,
    member  TEXT NOT NULL,
    day     TEXT NOT NULL,              -- UTC
    tokens  INTEGER NOT NULL,
    cost    REAL NOT NULL,
    PRIMARY KEY (channel, member, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_cursors (          -- up to where each place of a service has been read
    channel TEXT NOT NULL,
    place   TEXT NOT NULL,
    cursor  TEXT NOT NULL,
    PRIMARY KEY (channel, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_leases (           -- the process that runs a channel; another one takes over when it is gone
    channel TEXT NOT NULL,
    owner   TEXT NOT NULL,
    until   INTEGER NOT NULL,
    PRIMARY KEY (channel)
) STRICT, WITHOUT ROWID;

CREATE TABLE external_ids (             -- ids of other programs: resp_…, uuids of imported files
    kind    TEXT NOT NULL,
    value   TEXT NOT NULL,
    message INTEGER,
    session INTEGER,
    PRIMARY KEY (kind, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX external_ids_message ON external_ids (message) WHERE message IS NOT NULL;

CREATE TABLE state (                    -- one row
    one          INTEGER PRIMARY KEY CHECK (one = 1),
    highest      INTEGER NOT NULL,      -- numbers of messages up to this are used, also in the trash
    sessions     INTEGER NOT NULL,      -- likewise for sessions: turns keep the number of a deleted one
    indexed      INTEGER NOT NULL,      -- the last message in the search index
    index_format INTEGER NOT NULL,
    activity     INTEGER NOT NULL DEFAULT 0 -- of the deleted sessions: the highest
) STRICT;
INSERT INTO state VALUES (1, 0, 0, 0, 1, 0);

-- Without contentless_delete, for which SQLite before 3.43 refuses the file.
CREATE VIRTUAL TABLE search USING fts5 (words, content='', tokenize='unicode61 remove_diacritics 2');

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
