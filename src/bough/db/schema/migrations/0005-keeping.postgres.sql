-- Pins, expiry of sessions, and the journal for undoing.

ALTER TABLE bough.sessions ADD COLUMN pinned_at bigint;
ALTER TABLE bough.sessions ADD COLUMN expires_at bigint;
ALTER TABLE bough.sessions ADD COLUMN expires_after bigint;

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

DO $$
DECLARE fenced text;
BEGIN
    FOREACH fenced IN ARRAY ARRAY['pins', 'journal'] LOOP
        EXECUTE format('ALTER TABLE bough.%I ENABLE ROW LEVEL SECURITY', fenced);
        EXECUTE format('CREATE POLICY one_namespace ON bough.%I USING (namespace = current_setting(''bough.namespace'', true))', fenced);
        EXECUTE format('ALTER TABLE bough.%I FORCE ROW LEVEL SECURITY', fenced);
    END LOOP;
END $$;
