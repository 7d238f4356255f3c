-- The first block of a message moves into its row, which is all that most messages need. Numbers of sessions are
-- remembered in `state`, and replies that are still being written get a table.
--
-- References are not checked here, and a table that is renamed keeps the references of others to its old name: to the
-- new table that takes it.

PRAGMA legacy_alter_table = ON;
ALTER TABLE messages RENAME TO messages_1;
ALTER TABLE blocks RENAME TO blocks_1;
ALTER TABLE sessions RENAME TO sessions_1;
ALTER TABLE state RENAME TO state_1;
DROP INDEX messages_parent;
DROP INDEX messages_root;
DROP INDEX sessions_activity;
DROP INDEX sessions_head;
DROP INDEX sessions_parent;
DROP INDEX sessions_directory;

CREATE TABLE messages (
    n          INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    parent     INTEGER REFERENCES messages (n),
    blocks     INTEGER NOT NULL DEFAULT 0, -- how many rows of `blocks` it has
    turn       INTEGER,                 -- n of the first message of its turn
    role       TEXT NOT NULL,
    kind       TEXT,                    -- NULL for an ordinary message, 'summary'
    covers     INTEGER,                 -- of a summary: n of the last node it speaks for
    summary    INTEGER,                 -- n of the newest summary on the path, itself included
    weight     INTEGER NOT NULL DEFAULT 0, -- of the whole path up to here, in estimated tokens
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
    CHECK (parent < n)                  -- so a path always ends, even in a file edited by hand
) STRICT;
CREATE INDEX messages_parent ON messages (parent) WHERE parent IS NOT NULL;
CREATE INDEX messages_root ON messages (digest) WHERE parent IS NULL;
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
    content  TEXT,                      -- short and plain text,
    packed   BLOB,                      -- or compressed text,
    blob     INTEGER REFERENCES blobs (n), -- or long text and everything binary
    extra    TEXT,
    raw      TEXT,
    PRIMARY KEY (message, position)
) STRICT;
CREATE INDEX blocks_blob ON blocks (blob) WHERE blob IS NOT NULL;

INSERT INTO messages
SELECT m.n, m.id, m.parent, (SELECT count(*) FROM blocks_1 b WHERE b.message = m.n AND b.position > 0), m.turn, m.role,
       m.kind, m.covers, m.summary, m.weight, m.label, m.error, m.digest, m.envelope, m.created_at, b.type, b.modality,
       b.mime, b.call_id, b.name, b.content, b.packed, b.blob, b.extra, b.raw
FROM messages_1 m LEFT JOIN blocks_1 b ON b.message = m.n AND b.position = 0 ORDER BY m.n;
INSERT INTO blocks SELECT * FROM blocks_1 WHERE position > 0 ORDER BY message, position;

CREATE TABLE sessions (
    n              INTEGER PRIMARY KEY,
    key            TEXT NOT NULL UNIQUE,
    channel        TEXT,
    channel_id     TEXT,
    directory      TEXT,
    head           INTEGER,             -- n of a message; neither checked nor indexed: every turn writes it
    revision       INTEGER NOT NULL,    -- counts the moves of the head
    activity       INTEGER NOT NULL,    -- the order of last use, without a clock
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
    updated_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_activity ON sessions (activity);
CREATE INDEX sessions_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_directory ON sessions (directory) WHERE directory IS NOT NULL;

INSERT INTO sessions SELECT * FROM sessions_1;

CREATE TABLE sketches (                 -- what has come so far of a reply that is still being written
    turn    INTEGER PRIMARY KEY,
    content TEXT NOT NULL               -- JSON: the label, and pairs of a block's type and its text
) STRICT;

CREATE TABLE state (                    -- one row
    one          INTEGER PRIMARY KEY CHECK (one = 1),
    highest      INTEGER NOT NULL,      -- no message may be numbered up to here: such a number is in the trash
    sessions     INTEGER NOT NULL,      -- nor a session: turns remember its number after it is gone
    indexed      INTEGER NOT NULL,      -- the search index knows the messages up to here
    index_format INTEGER NOT NULL
) STRICT;
INSERT INTO state
SELECT one, highest, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'sessions_1'), 0), indexed, index_format
FROM state_1;

DROP TABLE blocks_1;
DROP TABLE sessions_1;
DROP TABLE messages_1;
DROP TABLE state_1;
PRAGMA legacy_alter_table = OFF;
