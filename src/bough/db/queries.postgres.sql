-- The statements that differ on PostgreSQL. See queries.sql. `:namespace` is the namespace, for statements that contain it.

-- fragment: newest_first
ORDER BY 1 DESC, position

-- fragment: oldest_first
ORDER BY 1, position

-- fragment: is_child
c.parent = p.n

-- fragment: day
to_char(to_timestamp(p.time / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')

-- fragment: excluded
SELECT x.message FROM search x WHERE x.words @@ CAST(?10 AS tsquery)

-- fragment: bytewise
COLLATE "C"

-- name: path
WITH wanted (n, blocks) AS (
    WITH RECURSIVE wanted (n, blocks, parent) AS (SELECT n, blocks, parent FROM messages WHERE id = ? {up})
    SELECT n, blocks FROM wanted LIMIT ?
)
{load} {newest_first}

-- name: session_path
WITH wanted (n, blocks) AS (
    WITH RECURSIVE wanted (n, blocks, parent) AS (
        SELECT m.n, m.blocks, m.parent FROM sessions s CROSS JOIN messages m ON m.n = s.head WHERE s.key = ? {up}
    )
    SELECT n, blocks FROM wanted LIMIT ?
)
{load} {newest_first}

-- Transactions -------------------------------------------------------------------------------------------------------

-- name: settings
-- Settings of one transaction: the namespace for row-level security, the lock timeout, durable commits, and no functions
-- or operators but the server's own, whoever may create others. A statement that writes is planned once, and one that
-- reads whenever the planner finds that worth it.
SELECT pg_catalog.set_config('bough.namespace', :namespace, true), pg_catalog.set_config('lock_timeout', ?, true),
       pg_catalog.set_config('plan_cache_mode', ?, true),
       pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
       pg_catalog.set_config('synchronous_commit',
           CASE pg_catalog.current_setting('synchronous_commit') WHEN 'off' THEN 'on'
           ELSE pg_catalog.current_setting('synchronous_commit') END, true)

-- name: queue
-- Serialises the writers of a namespace. The token proves a commit whose answer was lost with the connection.
UPDATE state SET writes = writes + 1, recent = right(recent || CAST(? AS text), 512) RETURNING writes

-- name: evidence
SELECT writes, recent FROM bough.state WHERE namespace = :namespace FOR UPDATE

-- name: make_namespace
INSERT INTO state (highest, sessions, indexed, index_format, writes, recent) VALUES (0, 0, 0, 1, 0, '')
ON CONFLICT DO NOTHING

-- name: blob_window
SELECT substring(bytes FROM CAST(?2 AS integer) FOR CAST(?3 AS integer)) FROM blob_bytes WHERE n = ?1

-- Search -------------------------------------------------------------------------------------------------------------

-- name: index_words
INSERT INTO search (message, words) VALUES (?, CAST(? AS tsvector))

-- name: unindex
DELETE FROM search WHERE message IN (SELECT value FROM json_each(?))

-- name: clear_index
DELETE FROM search

-- name: search_newest
SELECT f.message FROM search f JOIN messages m ON m.n = f.message
WHERE f.words @@ CAST(?1 AS tsquery) AND f.message < ?2 AND {search_filters}
ORDER BY f.message DESC LIMIT ?3 OFFSET ?4

-- name: search_ranked
-- Higher is better there, lower is better in FTS5: the rank is negated.
SELECT f.n, f.rank FROM (
    SELECT f.message AS n, CAST(-ts_rank(f.words, CAST(?1 AS tsquery)) AS double precision) AS rank
    FROM search f WHERE f.words @@ CAST(?1 AS tsquery)) f
JOIN messages m ON m.n = f.n
WHERE (f.rank > ?21 OR f.rank = ?21 AND f.n < ?2 OR ?21 IS NULL) AND {search_filters}
ORDER BY f.rank, f.n DESC LIMIT ?3 OFFSET ?4

-- Changes ------------------------------------------------------------------------------------------------------------

-- name: insert_change
INSERT INTO changes (n, at, kind, session, message)
SELECT coalesce(max(n), 0) + 1, ?, ?, (SELECT key FROM sessions WHERE n = ?), (SELECT id FROM messages WHERE n = ?)
FROM changes
