-- Finds the sessions at a message, and the directories of a session, without reading all of them.

ALTER TABLE sessions ADD COLUMN placed INTEGER;
CREATE INDEX sessions_placed ON sessions (placed) WHERE placed IS NOT NULL;
CREATE INDEX directories_session ON directories (session);

UPDATE sessions SET placed = head WHERE head IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM messages m JOIN turns t ON t.n = m.turn WHERE m.n = sessions.head AND t.session = sessions.n);
