-- One row per provider reply, documents, changes, and what each directory last talked to.

CREATE INDEX messages_label ON bough.messages (namespace, label) WHERE label IS NOT NULL;

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

CREATE TABLE bough.changes (
    namespace text COLLATE "C" NOT NULL,
    n         bigint NOT NULL,
    at        bigint NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    session   text COLLATE "C",
    message   text COLLATE "C",
    PRIMARY KEY (namespace, n)
);

INSERT INTO bough.replies
SELECT namespace, last, n, session, model, provider, request_id, input_tokens, output_tokens, cached_tokens,
       reasoning_tokens, cost, NULL, first_token_at, coalesce(finished_at, started_at)
FROM bough.turns
WHERE coalesce(model, provider, request_id) IS NOT NULL OR cost IS NOT NULL
   OR coalesce(input_tokens, output_tokens, cached_tokens, reasoning_tokens) IS NOT NULL
ON CONFLICT DO NOTHING;

-- Activity is a time from now on, so that imported conversations have their place: unique, and in the order of last use.
ALTER TABLE bough.state ADD COLUMN activity bigint NOT NULL DEFAULT 0;
UPDATE bough.sessions SET activity = placed.at FROM (
    SELECT namespace, n, place + max(updated_at - place) OVER (PARTITION BY namespace ORDER BY place) AS at
    FROM (
        SELECT namespace, n, updated_at,
               row_number() OVER (PARTITION BY namespace ORDER BY updated_at, activity) AS place FROM bough.sessions
    ) ranked
) placed WHERE placed.namespace = sessions.namespace AND placed.n = sessions.n;

INSERT INTO bough.directories
SELECT DISTINCT ON (namespace, directory) namespace, directory, n, updated_at FROM bough.sessions
WHERE directory IS NOT NULL AND parent IS NULL ORDER BY namespace, directory, activity DESC;

DO $$
DECLARE fenced text;
BEGIN
    FOREACH fenced IN ARRAY ARRAY['replies', 'documents', 'directories', 'changes'] LOOP
        EXECUTE format('ALTER TABLE bough.%I ENABLE ROW LEVEL SECURITY', fenced);
        EXECUTE format('CREATE POLICY one_namespace ON bough.%I USING (namespace = current_setting(''bough.namespace'', true))', fenced);
        EXECUTE format('ALTER TABLE bough.%I FORCE ROW LEVEL SECURITY', fenced);
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
