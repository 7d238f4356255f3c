-- One row per provider reply, documents, changes, pins, what each directory last talked to, and what can be undone.

ALTER TABLE bough.sessions ADD COLUMN pinned_at bigint;
ALTER TABLE bough.sessions ADD COLUMN expires_after bigint;
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

CREATE TABLE bough.pins (
    namespace text COLLATE "C" NOT NULL,
    message   bigint NOT NULL,
    at        bigint NOT NULL,
    PRIMARY KEY (namespace, message)
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

CREATE TABLE bough.journal (
    namespace text COLLATE "C" NOT NULL,
    n         bigint NOT NULL,
    at        bigint NOT NULL,
    verb      text COLLATE "C" NOT NULL,
    session   text COLLATE "C",
    inverse   text NOT NULL,
    PRIMARY KEY (namespace, n)
);

INSERT INTO bough.replies
SELECT namespace, last, n, session, model, provider, request_id, input_tokens, output_tokens, cached_tokens,
       reasoning_tokens, cost, NULL, first_token_at, coalesce(finished_at, started_at)
FROM bough.turns
WHERE coalesce(model, provider, request_id) IS NOT NULL OR coalesce(input_tokens, output_tokens) IS NOT NULL
   OR cost IS NOT NULL;

INSERT INTO bough.directories
SELECT DISTINCT ON (namespace, directory) namespace, directory, n, updated_at FROM bough.sessions
WHERE directory IS NOT NULL AND parent IS NULL ORDER BY namespace, directory, activity DESC;

DO $$
DECLARE fenced text;
BEGIN
    FOREACH fenced IN ARRAY ARRAY['replies', 'documents', 'directories', 'pins', 'changes', 'journal'] LOOP
        EXECUTE format('ALTER TABLE bough.%I ENABLE ROW LEVEL SECURITY', fenced);
        EXECUTE format('CREATE POLICY one_namespace ON bough.%I USING (namespace = current_setting(''bough.namespace'', true))', fenced);
        EXECUTE format('ALTER TABLE bough.%I FORCE ROW LEVEL SECURITY', fenced);
    END LOOP;
END $$;
