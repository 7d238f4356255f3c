-- Most messages follow the one that was saved before them, and are found beside it: the index of parents is for the others
-- (docs/decisions/0019). Without the whole index SQLite would read all messages to see whether one that is deleted has
-- children, so it no longer checks this reference; `verify` does.
--
-- A constraint on which nothing in the file depends is dropped by taking it out of the text of its table.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, ' REFERENCES messages (n)', '') WHERE type = 'table' AND name = 'messages';
PRAGMA writable_schema = RESET;
DROP INDEX messages_parent;
CREATE INDEX messages_parent ON messages (parent) WHERE parent <> n - 1;
