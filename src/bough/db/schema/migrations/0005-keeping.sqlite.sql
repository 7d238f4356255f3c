-- Pins, expiry of sessions, and the journal for undoing.

ALTER TABLE sessions ADD COLUMN pinned_at INTEGER;
ALTER TABLE sessions ADD COLUMN expires_at INTEGER;
ALTER TABLE sessions ADD COLUMN expires_after INTEGER;

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
