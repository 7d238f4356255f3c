-- Tokens of a server.

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

ALTER TABLE bough.server_tokens ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON bough.server_tokens USING (namespace = current_setting('bough.namespace', true));
ALTER TABLE bough.server_tokens FORCE ROW LEVEL SECURITY;
