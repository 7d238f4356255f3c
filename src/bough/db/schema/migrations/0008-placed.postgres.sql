-- Finds the sessions at a message, and the directories of a session, without reading all of them.

ALTER TABLE bough.sessions ADD COLUMN placed bigint;
CREATE INDEX sessions_placed ON bough.sessions (namespace, placed) WHERE placed IS NOT NULL;
CREATE INDEX directories_session ON bough.directories (namespace, session);

UPDATE bough.sessions SET placed = head WHERE head IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM bough.messages m JOIN bough.turns t ON t.namespace = m.namespace AND t.n = m.turn WHERE m.namespace = sessions.namespace AND m.n = sessions.head AND t.session = sessions.n);
