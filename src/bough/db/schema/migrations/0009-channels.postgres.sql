-- What channels remember.

CREATE TABLE bough.channel_inbox (
    namespace    text COLLATE "C" NOT NULL,
    n            bigint NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    delivery     text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    event        text NOT NULL,
    state        text COLLATE "C" NOT NULL,
    turn         text COLLATE "C",
    received_at  bigint NOT NULL,
    PRIMARY KEY (namespace, n),
    UNIQUE (namespace, channel, delivery)
);
CREATE INDEX channel_inbox_open ON bough.channel_inbox (namespace, channel, n) WHERE state <> 'done';

CREATE TABLE bough.channel_outbox (
    namespace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    delivery  text COLLATE "C" NOT NULL,
    position  bigint NOT NULL,
    chat      text COLLATE "C" NOT NULL,
    external  text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, channel, delivery, position)
);

CREATE TABLE bough.channel_chats (
    namespace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    shown        text COLLATE "C",
    PRIMARY KEY (namespace, channel, conversation)
);

CREATE TABLE bough.channel_members (
    namespace   text COLLATE "C" NOT NULL,
    channel     text COLLATE "C" NOT NULL,
    member      text COLLATE "C" NOT NULL,
    name        text NOT NULL,
    admitted_at bigint NOT NULL,
    PRIMARY KEY (namespace, channel, member)
);

CREATE TABLE bough.channel_codes (
    namespace  text COLLATE "C" NOT NULL,
    channel    text COLLATE "C" NOT NULL,
    hash       bytea NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (namespace, channel, hash)
);

CREATE TABLE bough.channel_spending (
    namespace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    member    text COLLATE "C" NOT NULL,
    day       text COLLATE "C" NOT NULL,
    tokens    bigint NOT NULL,
    cost      double precision NOT NULL,
    PRIMARY KEY (namespace, channel, member, day)
);

CREATE TABLE bough.channel_cursors (
    namespace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    place     text COLLATE "C" NOT NULL,
    cursor    text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, channel, place)
);

CREATE TABLE bough.channel_leases (
    namespace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    owner     text COLLATE "C" NOT NULL,
    until     bigint NOT NULL,
    PRIMARY KEY (namespace, channel)
);

ALTER TABLE bough.channel_inbox ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON bough.channel_inbox USING (namespace = current_setting('bough.namespace', true));
ALTER TABLE bough.channel_inbox FORCE ROW LEVEL SECURITY;

ALTER TABLE bough.channel_outbox ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON bough.channel_outbox USING (namespace = current_setting('bough.namespace', true));
ALTER TABLE bough.channel_outbox FORCE ROW LEVEL SECURITY;

ALTER TABLE bough.channel_chats ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON bough.channel_chats USING (namespace = current_setting('bough.namespace', true));
ALTER TABLE bough.channel_chats FORCE ROW LEVEL SECURITY;

ALTER TABLE bough.channel_members ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON bough.channel_members USING (namespace = current_setting('bough.namespace', true));
ALTER TABLE bough.channel_members FORCE ROW LEVEL SECURITY;

ALTER TABLE bough.channel_codes ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON bough.channel_codes USING (namespace = current_setting('bough.namespace', true));
ALTER TABLE bough.channel_codes FORCE ROW LEVEL SECURITY;

ALTER TABLE bough.channel_spending ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON bough.channel_spending USING (namespace = current_setting('bough.namespace', true));
ALTER TABLE bough.channel_spending FORCE ROW LEVEL SECURITY;

ALTER TABLE bough.channel_cursors ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON bough.channel_cursors USING (namespace = current_setting('bough.namespace', true));
ALTER TABLE bough.channel_cursors FORCE ROW LEVEL SECURITY;

ALTER TABLE bough.channel_leases ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON bough.channel_leases USING (namespace = current_setting('bough.namespace', true));
ALTER TABLE bough.channel_leases FORCE ROW LEVEL SECURITY;
