-- The current schema on PostgreSQL. The same tables as in schema/sqlite.sql, which explains the columns.
--
-- The namespace is the first column of every table, key, reference and index where that is possible, so that a sharding
-- engine can keep all rows of a namespace together. Numbers count within a namespace; there are no sequences and no
-- triggers. The comment of the schema contains its version.

CREATE SCHEMA bough;

CREATE TABLE bough.blobs (
    namespace text COLLATE "C" NOT NULL,
    n         bigint NOT NULL,
    digest    bytea NOT NULL,
    size      bigint NOT NULL,
    encoding  text,
    refs      bigint NOT NULL,
    UNIQUE (namespace, digest)
);
ALTER TABLE bough.blobs ADD PRIMARY KEY (namespace, n);

CREATE TABLE bough.blob_bytes (
    namespace text COLLATE "C" NOT NULL,
    n         bigint NOT NULL,
    bytes     bytea NOT NULL,
    PRIMARY KEY (namespace, n),
    FOREIGN KEY (namespace, n) REFERENCES bough.blobs (namespace, n)
);

ALTER TABLE bough.blob_bytes ALTER bytes SET STORAGE EXTERNAL; -- compressed already, and read in pieces

CREATE TABLE bough.messages (
    namespace  text COLLATE "C" NOT NULL,
    n          bigint NOT NULL,
    id         text COLLATE "C" NOT NULL,
    parent     bigint,
    blocks     integer NOT NULL DEFAULT 0,
    turn       bigint,
    role       text NOT NULL,
    kind       text,
    covers     bigint,
    summary    bigint,
    weight     bigint NOT NULL DEFAULT 0,
    label      text COLLATE "C",
    error      integer NOT NULL,
    digest     bytea NOT NULL,
    envelope   text,
    created_at bigint NOT NULL,
    type       text,
    modality   text,
    mime       text,
    call_id    text,
    name       text,
    content    text,
    packed     bytea,
    blob       bigint,
    extra      text,
    raw        text,
    UNIQUE (namespace, id),
    FOREIGN KEY (namespace, blob) REFERENCES bough.blobs (namespace, n),
    CHECK (parent < n)
);
CREATE INDEX messages_parent ON bough.messages (namespace, parent) WHERE parent IS NOT NULL;
CREATE INDEX messages_root ON bough.messages (namespace, digest) WHERE parent IS NULL;
CREATE INDEX messages_label ON bough.messages (namespace, label) WHERE label IS NOT NULL;
CREATE INDEX messages_blob ON bough.messages (namespace, blob) WHERE blob IS NOT NULL;
-- Created last: for a table without statistics the planner prefers the newest of the indexes with the same first
-- columns, also to check references; otherwise a connection that fills an empty database scans it for each row.
ALTER TABLE bough.messages ADD PRIMARY KEY (namespace, n);
ALTER TABLE bough.messages ALTER parent SET (n_distinct = -0.9); -- few have siblings; a small sample suggests more
ALTER TABLE bough.messages ADD FOREIGN KEY (namespace, parent) REFERENCES bough.messages (namespace, n);

CREATE TABLE bough.blocks (
    namespace text COLLATE "C" NOT NULL,
    message   bigint NOT NULL,
    position  integer NOT NULL CHECK (position > 0),
    inside    integer,
    type      text NOT NULL,
    modality  text,
    mime      text,
    call_id   text,
    name      text,
    content   text,
    packed    bytea,
    blob      bigint,
    extra     text,
    raw       text,
    PRIMARY KEY (namespace, message, position),
    FOREIGN KEY (namespace, message) REFERENCES bough.messages (namespace, n),
    FOREIGN KEY (namespace, blob) REFERENCES bough.blobs (namespace, n)
);
CREATE INDEX blocks_blob ON bough.blocks (namespace, blob) WHERE blob IS NOT NULL;

CREATE TABLE bough.sessions (
    namespace      text COLLATE "C" NOT NULL,
    n              bigint NOT NULL,
    key            text COLLATE "C" NOT NULL,
    channel        text COLLATE "C",
    channel_id     text COLLATE "C",
    directory      text COLLATE "C",
    head           bigint,
    revision       bigint NOT NULL,
    activity       bigint NOT NULL,
    parent         bigint,
    parent_message bigint,
    forked_from    text COLLATE "C",
    title          text COLLATE "C",
    agent          text COLLATE "C",
    model          text COLLATE "C",
    lease_turn     bigint,
    lease_owner    text,
    lease_until    bigint,
    extra          text,
    created_at     bigint NOT NULL,
    updated_at     bigint NOT NULL,
    pinned_at      bigint,
    expires_at     bigint,
    expires_after  bigint,
    placed         bigint,
    PRIMARY KEY (namespace, n),
    UNIQUE (namespace, key)
);
CREATE INDEX sessions_activity ON bough.sessions (namespace, activity);
CREATE INDEX sessions_parent ON bough.sessions (namespace, parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_directory ON bough.sessions (namespace, directory) WHERE directory IS NOT NULL;
CREATE INDEX sessions_placed ON bough.sessions (namespace, placed) WHERE placed IS NOT NULL;

CREATE TABLE bough.turns (
    namespace           text COLLATE "C" NOT NULL,
    n                   bigint NOT NULL,
    session             bigint NOT NULL,
    idempotency_key     text COLLATE "C",
    parent              bigint,
    last                bigint NOT NULL,
    status              text NOT NULL,
    model               text COLLATE "C",
    provider            text,
    request_id          text,
    input_tokens        bigint,
    output_tokens       bigint,
    cached_tokens       bigint,
    reasoning_tokens    bigint,
    cost                double precision,
    context_tokens      bigint,
    instructions_digest bytea,
    caller              bigint,
    caller_call         text,
    error               text,
    metadata            text,
    started_at          bigint NOT NULL,
    first_token_at      bigint,
    finished_at         bigint,
    PRIMARY KEY (namespace, n)
);
CREATE INDEX turns_session ON bough.turns (namespace, session);
CREATE UNIQUE INDEX turns_idempotency ON bough.turns (namespace, session, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX turns_running ON bough.turns (namespace, n) WHERE status = 'running';

CREATE TABLE bough.replies (
    namespace        text COLLATE "C" NOT NULL,
    message          bigint NOT NULL,
    turn             bigint,
    session          bigint NOT NULL,
    model            text COLLATE "C",
    provider         text COLLATE "C",
    request_id       text,
    input_tokens     bigint,
    output_tokens    bigint,
    cached_tokens    bigint,
    reasoning_tokens bigint,
    cost             double precision,
    started_at       bigint,
    first_token_at   bigint,
    finished_at      bigint NOT NULL,
    PRIMARY KEY (namespace, message)
);

CREATE TABLE bough.sketches (
    namespace text COLLATE "C" NOT NULL,
    turn      bigint NOT NULL,
    content   text NOT NULL,
    PRIMARY KEY (namespace, turn)
);

CREATE TABLE bough.documents (
    namespace  text COLLATE "C" NOT NULL,
    session    bigint NOT NULL,
    name       text COLLATE "C" NOT NULL,
    revision   bigint NOT NULL,
    json       text,
    bytes      bytea,
    updated_at bigint NOT NULL,
    PRIMARY KEY (namespace, session, name)
);

CREATE TABLE bough.directories (
    namespace text COLLATE "C" NOT NULL,
    path      text COLLATE "C" NOT NULL,
    session   bigint NOT NULL,
    at        bigint NOT NULL,
    PRIMARY KEY (namespace, path)
);
CREATE INDEX directories_session ON bough.directories (namespace, session);

CREATE TABLE bough.changes (
    namespace text COLLATE "C" NOT NULL,
    n         bigint NOT NULL,
    at        bigint NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    session   text COLLATE "C",
    message   text COLLATE "C",
    PRIMARY KEY (namespace, n)
);

CREATE TABLE bough.pins (
    namespace text COLLATE "C" NOT NULL,
    message   bigint NOT NULL,
    at        bigint NOT NULL,
    PRIMARY KEY (namespace, message)
);

CREATE TABLE bough.journal (
    namespace text COLLATE "C" NOT NULL,
    n         bigint NOT NULL,
    at        bigint NOT NULL,
    verb      text COLLATE "C" NOT NULL,
    session   bigint,
    message   bigint,
    before    text,
    after     text,
    trash     text COLLATE "C",
    PRIMARY KEY (namespace, n)
);
CREATE INDEX journal_trash ON bough.journal (namespace, trash) WHERE trash IS NOT NULL;

CREATE TABLE bough.trash (
    namespace  text COLLATE "C" NOT NULL,
    n          bigint NOT NULL,
    id         text COLLATE "C" NOT NULL,
    deleted_at bigint NOT NULL,
    reason     text NOT NULL,
    messages   bigint NOT NULL,
    payload    bytea NOT NULL,
    PRIMARY KEY (namespace, n),
    UNIQUE (namespace, id)
);

ALTER TABLE bough.trash ALTER payload SET STORAGE EXTERNAL;

CREATE TABLE bough.trash_names (
    namespace text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    trash     bigint NOT NULL,
    PRIMARY KEY (namespace, name, trash),
    FOREIGN KEY (namespace, trash) REFERENCES bough.trash (namespace, n) ON DELETE CASCADE
);
CREATE INDEX trash_names_trash ON bough.trash_names (namespace, trash);

CREATE TABLE bough.server_tokens (
    namespace  text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    name       text NOT NULL,
    tenant     text COLLATE "C",
    scopes     text NOT NULL,
    hash       bytea NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    PRIMARY KEY (namespace, id)
);

CREATE TABLE bough.imported_files (
    namespace text COLLATE "C" NOT NULL,
    path      text COLLATE "C" NOT NULL,
    source    text COLLATE "C" NOT NULL,
    size      bigint NOT NULL,
    mtime     bigint NOT NULL,
    tail      bytea NOT NULL,
    reader    text NOT NULL,
    PRIMARY KEY (namespace, path, source)
);

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

CREATE TABLE bough.external_ids (
    namespace text COLLATE "C" NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    value     text COLLATE "C" NOT NULL,
    message   bigint,
    session   bigint,
    PRIMARY KEY (namespace, kind, value)
);
CREATE INDEX external_ids_message ON bough.external_ids (namespace, message) WHERE message IS NOT NULL;

CREATE TABLE bough.state (              -- one row per namespace; a writer locks it until it commits
    namespace    text COLLATE "C" NOT NULL,
    highest      bigint NOT NULL,
    sessions     bigint NOT NULL,
    indexed      bigint NOT NULL,
    index_format bigint NOT NULL,
    writes       bigint NOT NULL,       -- the number of writing transactions
    recent       text NOT NULL,         -- the tokens of the last ones
    activity     bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (namespace)
);

CREATE TABLE bough.search (
    namespace text COLLATE "C" NOT NULL,
    message   bigint NOT NULL,
    words     tsvector NOT NULL,
    PRIMARY KEY (namespace, message)
);
CREATE INDEX search_words ON bough.search USING gin (words);

-- Row-level security, in addition to the namespace in every statement. The owner of `search` is exempt: with a policy,
-- the text index is not used.
DO $$
DECLARE fenced text;
BEGIN
    FOR fenced IN SELECT tablename FROM pg_tables WHERE schemaname = 'bough' LOOP
        EXECUTE format('ALTER TABLE bough.%I ENABLE ROW LEVEL SECURITY', fenced);
        EXECUTE format('CREATE POLICY one_namespace ON bough.%I USING (namespace = current_setting(''bough.namespace'', true))', fenced);
        IF fenced <> 'search' THEN
            EXECUTE format('ALTER TABLE bough.%I FORCE ROW LEVEL SECURITY', fenced);
        END IF;
    END LOOP;
END $$;

-- Views for other programs: their names and columns are stable, and described in docs/sql.md. They show the
-- namespace that `bough.namespace` names, and of it what the role may read.
CREATE VIEW bough.bough_messages WITH (security_invoker = true) AS
SELECT m.n, m.id, p.id AS parent_id, t.id AS turn_id, s.key AS session, m.role, coalesce(m.kind, 'message') AS kind,
       m.label, m.error, r.model, r.provider, r.cost,
       to_char(to_timestamp(m.created_at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
           || '.' || lpad((m.created_at % 1000000)::text, 6, '0') || 'Z' AS created_at,
       CASE WHEN m.blocks = 0 THEN CASE WHEN m.type IN ('text', 'tool_result', 'tool_error') THEN m.content END
       ELSE (SELECT CASE WHEN NOT bool_or(b.packed IS NOT NULL OR b.blob IS NOT NULL)
                    THEN string_agg(b.content, chr(10) ORDER BY b.position) END
             FROM (SELECT 0 AS position, m.type AS type, m.content AS content, m.packed AS packed, m.blob AS blob
                   UNION ALL SELECT position, type, content, packed, blob FROM bough.blocks
                   WHERE namespace = m.namespace AND message = m.n) b
             WHERE b.type IN ('text', 'tool_result', 'tool_error')) END AS text,
       (SELECT coalesce(sum(coalesce(octet_length(b.content), x.size, octet_length(b.packed))), 0)::bigint
        FROM (SELECT m.type AS type, m.content AS content, m.packed AS packed, m.blob AS blob
              UNION ALL SELECT type, content, packed, blob FROM bough.blocks
              WHERE namespace = m.namespace AND message = m.n) b
        LEFT JOIN bough.blobs x ON x.namespace = m.namespace AND x.n = b.blob
        WHERE b.type IN ('text', 'tool_result', 'tool_error')) AS size
FROM bough.messages m
LEFT JOIN bough.messages p ON p.namespace = m.namespace AND p.n = m.parent
LEFT JOIN bough.messages t ON t.namespace = m.namespace AND t.n = m.turn
LEFT JOIN bough.turns u ON u.namespace = m.namespace AND u.n = m.turn
LEFT JOIN bough.sessions s ON s.namespace = m.namespace AND s.n = u.session
LEFT JOIN bough.replies r ON r.namespace = m.namespace AND r.message = m.n
WHERE m.namespace = current_setting('bough.namespace', true);

CREATE VIEW bough.bough_replies WITH (security_invoker = true) AS
SELECT m.id AS message_id, t.id AS turn_id, s.key AS session, r.model, r.provider, r.request_id,
       r.input_tokens, r.output_tokens, r.cached_tokens, r.reasoning_tokens, r.cost,
       to_char(to_timestamp(r.started_at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
           || '.' || lpad((r.started_at % 1000000)::text, 6, '0') || 'Z' AS started_at,
       to_char(to_timestamp(r.first_token_at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
           || '.' || lpad((r.first_token_at % 1000000)::text, 6, '0') || 'Z' AS first_token_at,
       to_char(to_timestamp(r.finished_at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
           || '.' || lpad((r.finished_at % 1000000)::text, 6, '0') || 'Z' AS finished_at
FROM bough.replies r
LEFT JOIN bough.messages m ON m.namespace = r.namespace AND m.n = r.message
LEFT JOIN bough.messages t ON t.namespace = r.namespace AND t.n = r.turn
LEFT JOIN bough.sessions s ON s.namespace = r.namespace AND s.n = r.session
WHERE r.namespace = current_setting('bough.namespace', true);

CREATE VIEW bough.bough_turns WITH (security_invoker = true) AS
SELECT u.n, m.id, s.key AS session, u.status, p.id AS parent_id, l.id AS last_id, c.id AS caller_id,
       u.model, u.provider, u.input_tokens, u.output_tokens, u.cached_tokens, u.reasoning_tokens, u.cost, u.error,
       to_char(to_timestamp(u.started_at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
           || '.' || lpad((u.started_at % 1000000)::text, 6, '0') || 'Z' AS started_at,
       to_char(to_timestamp(u.finished_at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
           || '.' || lpad((u.finished_at % 1000000)::text, 6, '0') || 'Z' AS finished_at
FROM bough.turns u
LEFT JOIN bough.messages m ON m.namespace = u.namespace AND m.n = u.n
LEFT JOIN bough.messages p ON p.namespace = u.namespace AND p.n = u.parent
LEFT JOIN bough.messages l ON l.namespace = u.namespace AND l.n = u.last
LEFT JOIN bough.messages c ON c.namespace = u.namespace AND c.n = u.caller
LEFT JOIN bough.sessions s ON s.namespace = u.namespace AND s.n = u.session
WHERE u.namespace = current_setting('bough.namespace', true);

CREATE VIEW bough.bough_sessions WITH (security_invoker = true) AS
SELECT s.key AS session, s.channel, s.channel_id, s.directory, s.title, s.agent, s.model, h.id AS head_id,
       p.key AS parent, s.forked_from,
       (SELECT count(*) FROM bough.turns u WHERE u.namespace = s.namespace AND u.session = s.n) AS turns,
       r.input_tokens, r.output_tokens, r.cost,
       to_char(to_timestamp(s.created_at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
           || '.' || lpad((s.created_at % 1000000)::text, 6, '0') || 'Z' AS created_at,
       to_char(to_timestamp(s.updated_at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
           || '.' || lpad((s.updated_at % 1000000)::text, 6, '0') || 'Z' AS updated_at
FROM bough.sessions s
LEFT JOIN bough.messages h ON h.namespace = s.namespace AND h.n = s.head
LEFT JOIN bough.sessions p ON p.namespace = s.namespace AND p.n = s.parent
LEFT JOIN (SELECT namespace, session, sum(input_tokens)::bigint AS input_tokens,
                  sum(output_tokens)::bigint AS output_tokens, sum(cost) AS cost
           FROM bough.replies GROUP BY namespace, session) r ON r.namespace = s.namespace AND r.session = s.n
WHERE s.namespace = current_setting('bough.namespace', true);
