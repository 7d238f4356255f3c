-- The statements that differ on SQLite. See queries.sql.

-- fragment: newest_first
-- Empty: a CROSS JOIN keeps the order of its left side.

-- fragment: oldest_first
-- Empty, for the same reason.

-- fragment: is_child
-- Whether `c` is a child of `p`. Most messages follow the one that was saved just before them; the partial index of
-- parents holds only the others, and is used only if its condition is repeated here.
(c.n = p.n + 1 AND c.parent = p.n OR c.parent = p.n AND c.parent <> c.n - 1)

-- fragment: day
strftime('%Y-%m-%d', p.time / 1000000, 'unixepoch')

-- fragment: excluded
SELECT rowid FROM search WHERE search MATCH ?10

-- fragment: bytewise
COLLATE BINARY

-- name: path
-- From a node up to the root, nearest first.
WITH RECURSIVE wanted (n, blocks, parent) AS (SELECT n, blocks, parent FROM messages WHERE id = ? {up} LIMIT ?)
{load}

-- name: session_path
WITH RECURSIVE wanted (n, blocks, parent) AS (
    SELECT m.n, m.blocks, m.parent FROM sessions s CROSS JOIN messages m ON m.n = s.head WHERE s.key = ? {up} LIMIT ?
)
{load}

-- name: index_words
INSERT INTO search (rowid, words) VALUES (?, ?)

-- name: unindex
-- The index keeps no texts: it takes out a message by the words with which it was indexed.
INSERT INTO search (search, rowid, words) VALUES ('delete', ?, ?)

-- name: clear_index
INSERT INTO search (search) VALUES ('delete-all')

-- name: merge_index
-- Only a merge removes the words of deleted messages from the pages of the index.
INSERT INTO search (search) VALUES ('optimize')

-- name: search_newest
-- Of a session, its messages are found first: on its path, and what its turns added. The index then reads what lies
-- between the first and the last of them.
WITH RECURSIVE walk (n, first) AS (
    SELECT head, 0 FROM sessions WHERE key = ?9 AND head IS NOT NULL
    UNION SELECT t.last, t.n FROM turns t JOIN sessions s ON s.n = t.session WHERE s.key = ?9 AND t.n > 0
    UNION SELECT m.parent, walk.first FROM walk CROSS JOIN messages m ON m.n = walk.n
    WHERE m.parent >= walk.first AND m.parent < walk.n
), own (n) AS MATERIALIZED (
    SELECT n FROM walk UNION SELECT c.n FROM walk p CROSS JOIN messages c ON {is_child} WHERE c.turn = p.first
    UNION SELECT c.n FROM sessions s CROSS JOIN turns t ON t.session = s.n AND t.n > 0
    CROSS JOIN messages p ON p.n = t.parent CROSS JOIN messages c ON {is_child} WHERE s.key = ?9 AND c.turn = t.n
)
SELECT f.rowid FROM search f CROSS JOIN messages m ON m.n = f.rowid
WHERE f.search MATCH ?1
  AND f.rowid >= CASE WHEN ?9 IS NULL THEN 0 ELSE (SELECT coalesce(min(n), ?2) FROM own) END
  AND f.rowid <= CASE WHEN ?9 IS NULL THEN ?2 - 1 ELSE (SELECT min(max(n), ?2 - 1) FROM own) END
  AND (?9 IS NULL OR +f.rowid IN (SELECT n FROM own)) AND {message_filters} ORDER BY f.rowid DESC LIMIT ?3 OFFSET ?4

-- name: search_ranked
SELECT f.rowid, f.rank FROM search f CROSS JOIN messages m ON m.n = f.rowid
WHERE f.search MATCH ?1 AND (f.rank > ?21 OR f.rank = ?21 AND f.rowid < ?2 OR ?21 IS NULL) AND {search_filters}
ORDER BY f.rank, f.rowid DESC LIMIT ?3 OFFSET ?4

-- name: merge_some
-- About so many pages of it; a negative number begins a merge of all.
INSERT INTO search (search, rank) VALUES ('merge', ?)

-- name: rows_written
SELECT total_changes()

-- name: insert_change
-- Its number is the highest one plus one, which SQLite finds by itself.
INSERT INTO changes (at, kind, session, message)
VALUES (?, ?, (SELECT key FROM sessions WHERE n = ?), (SELECT id FROM messages WHERE n = ?))
