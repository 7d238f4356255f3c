-- Tokens of a server.

CREATE TABLE server_tokens (            -- for users and programs of a server; the token itself is not stored
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    tenant     TEXT,                    -- the namespace that it opens; NULL is this one
    scopes     TEXT NOT NULL,           -- separated by spaces
    hash       BLOB NOT NULL,           -- SHA-256 of the secret
    created_at INTEGER NOT NULL,
    expires_at INTEGER
) STRICT, WITHOUT ROWID;
