-- What channels remember.

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
