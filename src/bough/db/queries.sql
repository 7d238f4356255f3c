-- Every statement of the store, by name. Parameters are question marks, numbered where one is used twice; a list of
-- values is one parameter, a JSON array. `{name}` stands for the fragment of that name.

-- fragment: node
-- What a node is made of: one row a block, and one with NULLs for a message without blocks.
m.n, m.id, m.parent, m.turn, m.role, m.kind, m.covers, m.label, m.error, m.digest, m.envelope, m.created_at,
m.weight, b.position, b.inside, b.type, b.modality, b.mime, b.call_id, b.name, b.content, b.packed, b.extra, b.raw,
x.encoding, y.bytes

-- fragment: blocks
LEFT JOIN blocks b ON b.message = m.n LEFT JOIN blobs x ON x.n = b.blob LEFT JOIN blob_bytes y ON y.n = b.blob

-- fragment: walk
UNION ALL
SELECT m.parent FROM walk CROSS JOIN messages m ON m.n = walk.n WHERE m.parent < walk.n

-- fragment: session
SELECT s.key, s.channel, s.channel_id, h.id, s.revision, s.directory, s.title, s.agent, s.model, p.key, c.id,
       s.forked_from, s.extra, s.created_at, s.updated_at, s.activity
FROM sessions s LEFT JOIN messages h ON h.n = s.head LEFT JOIN sessions p ON p.n = s.parent
LEFT JOIN messages c ON c.n = s.parent_message

-- fragment: turn
(SELECT id FROM messages WHERE n = t.n), (SELECT key FROM sessions WHERE n = t.session), t.status,
(SELECT id FROM messages WHERE n = t.parent), (SELECT id FROM messages WHERE n = t.last),
t.input_tokens, t.output_tokens, t.cached_tokens, t.reasoning_tokens, t.cost, t.model, t.provider, t.request_id,
t.idempotency_key, t.instructions_digest, (SELECT id FROM messages WHERE n = t.caller), t.caller_call, t.error,
t.metadata, t.started_at, t.first_token_at, t.finished_at

-- fragment: totals
count(*), sum(t.input_tokens), sum(t.output_tokens), sum(t.cached_tokens), sum(t.reasoning_tokens), sum(t.cost),
count(*) - count(t.cost)

-- fragment: of_session
?1 IS NULL OR t.session = (SELECT n FROM sessions WHERE key = ?1)

-- fragment: search_where
f.search MATCH ?1 AND (?2 IS NULL OR m.role = ?2) AND (?3 IS NULL OR m.label = ?3)
AND (?4 IS NULL OR m.created_at >= ?4) AND (?5 IS NULL OR m.created_at < ?5)
AND (?6 IS NULL OR m.turn IN (SELECT t.n FROM turns t JOIN sessions s ON s.n = t.session WHERE s.channel = ?6))
AND (?7 IS NULL OR m.n IN (
    WITH RECURSIVE walk (n) AS (SELECT head FROM sessions WHERE key = ?7 {walk}) SELECT n FROM walk))

-- The load path ------------------------------------------------------------------------------------------------------

-- name: path
-- From a node up to the root, nearest first. A parent has a smaller number than its child, so the walk ends even where
-- a hand made a cycle.
WITH RECURSIVE walk (n) AS (SELECT n FROM messages WHERE id = ? {walk} LIMIT ?)
SELECT {node} FROM walk CROSS JOIN messages m ON m.n = walk.n {blocks}

-- name: session_path
WITH RECURSIVE walk (n) AS (SELECT head FROM sessions WHERE key = ? AND head IS NOT NULL {walk} LIMIT ?)
SELECT {node} FROM walk CROSS JOIN messages m ON m.n = walk.n {blocks}

-- name: path_from
-- The end of a path: from a node up to where the path weighs less than the second parameter, but at least up to the
-- node with the third number.
WITH RECURSIVE walk (n) AS (
    SELECT ?1
    UNION ALL
    SELECT p.n FROM walk CROSS JOIN messages m ON m.n = walk.n CROSS JOIN messages p ON p.n = m.parent
    WHERE m.parent < walk.n AND (p.weight >= ?2 OR p.n >= ?3)
)
SELECT {node} FROM walk CROSS JOIN messages m ON m.n = walk.n {blocks}

-- name: counted_turns
-- The newest turns on a path whose size the provider has counted: that count, and the weight of the path there.
WITH RECURSIVE back (turn, place) AS (
    SELECT turn, 0 FROM messages WHERE n = ?
    UNION ALL
    SELECT m.turn, back.place + 1 FROM back JOIN turns t ON t.n = back.turn JOIN messages m ON m.n = t.parent
    WHERE back.place < 3
)
SELECT t.context_tokens, m.weight FROM back JOIN turns t ON t.n = back.turn JOIN messages m ON m.n = t.last
WHERE t.context_tokens IS NOT NULL ORDER BY back.place LIMIT 1

-- name: nodes
SELECT {node} FROM json_each(?) wanted CROSS JOIN messages m ON m.n = wanted.value {blocks}

-- name: page_down
SELECT {node} FROM (SELECT n FROM messages WHERE n < ? ORDER BY n DESC LIMIT ? OFFSET ?) page
CROSS JOIN messages m ON m.n = page.n {blocks}

-- name: page_up
SELECT {node} FROM (SELECT n FROM messages WHERE n > ? ORDER BY n LIMIT ? OFFSET ?) page
CROSS JOIN messages m ON m.n = page.n {blocks}

-- name: children
SELECT {node} FROM messages m {blocks} WHERE m.parent = ? ORDER BY m.n, b.position

-- name: subtree
WITH RECURSIVE below (n) AS (
    SELECT ? UNION ALL SELECT m.n FROM below CROSS JOIN messages m ON m.parent = below.n WHERE m.n > below.n
)
SELECT {node} FROM below CROSS JOIN messages m ON m.n = below.n {blocks} ORDER BY m.n, b.position

-- name: ids
SELECT n, id FROM messages WHERE n IN (SELECT value FROM json_each(?))

-- name: numbers
SELECT id, n FROM messages WHERE id IN (SELECT value FROM json_each(?))

-- name: number
SELECT n FROM messages WHERE id = ?

-- name: numbers_by_prefix
SELECT id, n FROM messages WHERE id > ? AND id < ? ORDER BY id LIMIT 6

-- name: ancestors
WITH RECURSIVE walk (n) AS (SELECT n FROM messages WHERE n = ? {walk}) SELECT n FROM walk

-- name: step
SELECT n, parent, digest, role, turn, created_at, weight, summary FROM messages WHERE n = ?

-- name: steps_below
SELECT n, digest FROM messages WHERE parent = ? ORDER BY n

-- name: roots_by_digest
SELECT n FROM messages WHERE parent IS NULL AND digest = ? ORDER BY n

-- name: blob
SELECT x.n, x.size, x.encoding FROM blobs x JOIN blob_bytes y ON y.n = x.n WHERE x.n = ?

-- name: content_place
SELECT content, packed, blob, type FROM blocks WHERE message = ? AND position = ?

-- The save path ------------------------------------------------------------------------------------------------------

-- name: taken
SELECT m.id FROM json_each(?1) wanted CROSS JOIN messages m ON m.id = wanted.value
UNION ALL SELECT t.name FROM json_each(?1) wanted CROSS JOIN trash_names t ON t.name = wanted.value

-- name: highest
SELECT max(ifnull((SELECT max(n) FROM messages), 0), (SELECT highest FROM state))

-- name: insert_message
INSERT INTO messages (n, id, parent, turn, role, kind, covers, summary, weight, label, error, digest, envelope, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: insert_block
INSERT INTO blocks (message, position, inside, type, modality, mime, call_id, name, content, packed, blob, extra, raw)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: hold_blob
UPDATE blobs SET refs = refs + 1 WHERE digest = ? RETURNING n

-- name: insert_blob
INSERT INTO blobs (digest, size, encoding, refs) VALUES (?, ?, ?, 1) RETURNING n

-- name: insert_blob_bytes
INSERT INTO blob_bytes (n, bytes) VALUES (?, ?)

-- name: set_label
UPDATE messages SET label = ? WHERE n = ?

-- name: find_external
SELECT message, session FROM external_ids WHERE kind = ? AND value = ?

-- name: insert_external
INSERT INTO external_ids (kind, value, message, session) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING

-- Sessions -----------------------------------------------------------------------------------------------------------

-- name: session
{session} WHERE s.key = ?

-- name: session_by_number
{session} WHERE s.n = ?

-- name: session_state
SELECT n, key, head, revision, lease_turn, lease_owner, lease_until FROM sessions WHERE key = ?

-- name: leased_session
SELECT n, key, head, revision, lease_turn, lease_owner, lease_until FROM sessions WHERE n = ? AND lease_owner = ?

-- name: sessions
{session} WHERE s.activity < ?1 AND (?2 IS NULL OR s.channel = ?2) AND (?3 IS NULL OR s.directory = ?3)
  AND (?4 IS NULL OR s.parent = (SELECT n FROM sessions WHERE key = ?4)) AND (?5 OR s.parent IS NULL)
ORDER BY s.activity DESC LIMIT ?6

-- name: sessions_at
SELECT n, head FROM sessions WHERE head IN (SELECT value FROM json_each(?)) OR n = ?

-- name: idle_sessions
SELECT key FROM sessions WHERE updated_at < ? AND parent IS NULL ORDER BY activity

-- name: child_sessions
SELECT n, key FROM sessions WHERE parent = ? ORDER BY n

-- name: insert_session
INSERT INTO sessions (key, channel, channel_id, directory, head, revision, activity, parent, forked_from, title, agent,
                      model, extra, created_at, updated_at)
VALUES (?, ?, ?, ?, ?, 0, (SELECT ifnull(max(activity), 0) + 1 FROM sessions), ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n

-- name: update_session
UPDATE sessions SET directory = ifnull(?, directory), title = ifnull(?, title), agent = ifnull(?, agent),
                    model = ifnull(?, model), extra = ifnull(?, extra), updated_at = ? WHERE n = ?

-- name: link_session
UPDATE sessions SET parent = ?, parent_message = ifnull(?, parent_message) WHERE n = ?

-- name: move_head
UPDATE sessions SET head = ?, revision = revision + 1, updated_at = ?,
                    activity = (SELECT max(activity) + 1 FROM sessions) WHERE n = ?

-- name: take_lease
UPDATE sessions SET lease_turn = ?, lease_owner = ?, lease_until = ? WHERE n = ?

-- name: drop_lease
UPDATE sessions SET lease_turn = NULL, lease_owner = NULL, lease_until = NULL WHERE n = ?

-- name: delete_session
DELETE FROM sessions WHERE n = ?

-- Turns --------------------------------------------------------------------------------------------------------------

-- name: turn
SELECT {turn} FROM turns t WHERE t.n = ?

-- name: turns
SELECT {turn} FROM turns t
WHERE ({of_session}) AND (?2 IS NULL OR t.status = ?2) AND t.n < ?3 ORDER BY t.n DESC LIMIT ?4

-- name: turn_span
SELECT last, parent, status, session FROM turns WHERE n = ?

-- name: turn_by_key
SELECT n, status FROM turns WHERE session = ? AND idempotency_key = ?

-- name: insert_turn
INSERT INTO turns (n, session, idempotency_key, parent, last, status, model, provider, request_id, input_tokens,
                   output_tokens, cached_tokens, reasoning_tokens, cost, context_tokens, instructions_digest, caller,
                   caller_call, error, metadata, started_at, first_token_at, finished_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: extend_turn
UPDATE turns SET last = ?, model = ifnull(?, model), provider = ifnull(?, provider), request_id = ifnull(?, request_id),
       input_tokens = ?, output_tokens = ?, cached_tokens = ?, reasoning_tokens = ?, cost = ?,
       context_tokens = ifnull(?, context_tokens), instructions_digest = ifnull(?, instructions_digest), metadata = ?,
       first_token_at = ifnull(first_token_at, ?) WHERE n = ?

-- name: end_turn
UPDATE turns SET status = ?, error = ?, finished_at = ? WHERE n = ?

-- name: reopen_turn
UPDATE turns SET status = 'running', error = NULL, finished_at = NULL WHERE n = ?

-- name: drop_idempotency_key
UPDATE turns SET idempotency_key = NULL WHERE n = ?

-- name: cut_turn
UPDATE turns SET last = ? WHERE n = ?

-- name: running_turns
SELECT t.n, s.n, s.lease_turn, s.lease_owner, s.lease_until
FROM turns t LEFT JOIN sessions s ON s.n = t.session WHERE t.status = 'running'

-- name: running_turns_in
SELECT t.n, s.n, s.lease_turn, s.lease_owner, s.lease_until, s.key
FROM turns t JOIN sessions s ON s.n = t.session
WHERE t.status = 'running' AND t.last IN (SELECT value FROM json_each(?))

-- name: usage_total
SELECT NULL, {totals} FROM turns t
WHERE {of_session}

-- name: usage_by_session
SELECT s.key, {totals} FROM turns t JOIN sessions s ON s.n = t.session GROUP BY s.n ORDER BY s.n

-- name: usage_by_model
SELECT t.model, {totals} FROM turns t
WHERE {of_session} GROUP BY t.model ORDER BY t.model

-- name: usage_by_day
SELECT strftime('%Y-%m-%d', t.started_at / 1000000, 'unixepoch') AS day, {totals} FROM turns t
WHERE {of_session} GROUP BY day ORDER BY day

-- Deleting, and bringing back ----------------------------------------------------------------------------------------

-- name: with_descendants
WITH RECURSIVE below (n) AS (
    SELECT value FROM json_each(?)
    UNION SELECT m.n FROM below CROSS JOIN messages m ON m.parent = below.n
)
SELECT n FROM below ORDER BY n

-- name: first_child
SELECT p.id, c.id FROM json_each(?1) wanted CROSS JOIN messages c ON c.parent = wanted.value
JOIN messages p ON p.n = c.parent WHERE c.n NOT IN (SELECT value FROM json_each(?1)) LIMIT 1

-- name: children_of_any
SELECT parent, n FROM messages WHERE parent IN (SELECT value FROM json_each(?))

-- name: sessions_of_messages
SELECT m.n, s.n FROM messages m JOIN turns t ON t.n = m.turn JOIN sessions s ON s.n = t.session
WHERE m.n IN (SELECT value FROM json_each(?))

-- name: steps_of_session
WITH RECURSIVE walk (n, first) AS (
    SELECT last, n FROM turns WHERE session = ?
    UNION
    SELECT m.parent, walk.first FROM walk CROSS JOIN messages m ON m.n = walk.n WHERE m.parent >= walk.first
)
SELECT n FROM walk

-- name: message_rows
SELECT * FROM messages WHERE n IN (SELECT value FROM json_each(?)) ORDER BY n

-- name: block_rows
SELECT * FROM blocks WHERE message IN (SELECT value FROM json_each(?)) ORDER BY message, position

-- name: turn_rows
SELECT * FROM turns WHERE n IN (SELECT value FROM json_each(?)) ORDER BY n

-- name: turns_ending_in
SELECT n, last FROM turns WHERE last IN (SELECT value FROM json_each(?))

-- name: external_rows
SELECT * FROM external_ids WHERE message IN (SELECT value FROM json_each(?))

-- name: session_row
SELECT * FROM sessions WHERE n = ?

-- name: delete_blocks
DELETE FROM blocks WHERE message IN (SELECT value FROM json_each(?))

-- name: delete_turns
DELETE FROM turns WHERE n IN (SELECT value FROM json_each(?))

-- name: delete_externals
DELETE FROM external_ids WHERE message IN (SELECT value FROM json_each(?))

-- name: delete_messages
DELETE FROM messages WHERE n IN (SELECT value FROM json_each(?))

-- name: keep_numbers
UPDATE state SET highest = max(highest, ?)

-- name: insert_trash
INSERT INTO trash (id, deleted_at, reason, messages, payload) VALUES (?, ?, ?, ?, ?) RETURNING n

-- name: insert_trash_name
INSERT INTO trash_names (name, trash) VALUES (?, ?) ON CONFLICT DO NOTHING

-- name: trash
SELECT n, id, deleted_at, reason, messages FROM trash ORDER BY n DESC

-- name: trash_sessions
SELECT name FROM trash_names WHERE trash = ? AND name LIKE 'session %' ORDER BY name

-- name: trash_entry
SELECT n, payload FROM trash WHERE id = ?

-- name: trash_holding
SELECT t.n, t.id, t.payload FROM trash_names x JOIN trash t ON t.n = x.trash WHERE x.name = ? ORDER BY t.n DESC LIMIT 1

-- name: trash_before
SELECT n, payload FROM trash WHERE deleted_at < ? ORDER BY n

-- name: delete_trash
DELETE FROM trash WHERE n = ?

-- name: restore_message
INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: restore_block
INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: restore_external
INSERT INTO external_ids VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: restore_session
INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT ifnull(max(activity), 0) + 1 FROM sessions), ?, ?, ?, ?, ?, ?,
                             NULL, NULL, NULL, ?, ?, ?)

-- name: release_blob
UPDATE blobs SET refs = refs - ? WHERE n = ?

-- name: sweep_blob_bytes
DELETE FROM blob_bytes WHERE n IN (SELECT n FROM blobs WHERE refs <= 0)

-- name: sweep_blobs
DELETE FROM blobs WHERE refs <= 0

-- Verifying ----------------------------------------------------------------------------------------------------------

-- name: orphans
SELECT m.id, m.parent FROM messages m
WHERE m.parent IS NOT NULL AND (m.parent >= m.n OR NOT EXISTS (SELECT 1 FROM messages p WHERE p.n = m.parent))

-- name: homeless_blocks
SELECT b.message, b.position FROM blocks b WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = b.message)

-- name: delete_homeless_blocks
DELETE FROM blocks WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = blocks.message)

-- name: missing_blobs
SELECT m.id, b.position FROM blocks b JOIN messages m ON m.n = b.message
WHERE b.blob IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blobs x JOIN blob_bytes y ON y.n = x.n WHERE x.n = b.blob)

-- name: blob_page
SELECT x.n, x.digest, x.size, x.encoding, y.bytes FROM blobs x JOIN blob_bytes y ON y.n = x.n
WHERE x.n > ? ORDER BY x.n LIMIT 1

-- name: blob_counts
SELECT x.n, x.refs, (SELECT count(*) FROM blocks b WHERE b.blob = x.n) FROM blobs x

-- name: set_blob_refs
UPDATE blobs SET refs = ? WHERE n = ?

-- name: dangling_heads
SELECT s.n, s.key FROM sessions s
WHERE s.head IS NOT NULL AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = s.head)

-- name: last_of_session
SELECT max(t.last) FROM turns t WHERE t.session = ? AND t.status = 'complete'
  AND EXISTS (SELECT 1 FROM messages m WHERE m.n = t.last)

-- name: broken_turns
SELECT t.n FROM turns t WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = t.n)
   OR NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = t.last)

-- name: trash_payloads
SELECT id, payload FROM trash

-- Search -------------------------------------------------------------------------------------------------------------

-- name: search_state
SELECT indexed, index_format, ifnull((SELECT max(n) FROM messages), 0) FROM state

-- name: unindexed
SELECT {node} FROM (SELECT n FROM messages WHERE n > ? ORDER BY n LIMIT ?) page
CROSS JOIN messages m ON m.n = page.n {blocks}

-- name: index_again
UPDATE state SET indexed = min(indexed, ? - 1)

-- name: set_indexed
UPDATE state SET indexed = ?, index_format = ?

-- name: index_words
INSERT INTO search (rowid, words) VALUES (?, ?)

-- name: unindex
DELETE FROM search WHERE rowid IN (SELECT value FROM json_each(?))

-- name: clear_index
DELETE FROM search

-- name: search_newest
SELECT f.rowid FROM search f CROSS JOIN messages m ON m.n = f.rowid
WHERE {search_where} ORDER BY f.rowid DESC LIMIT ?8 OFFSET ?9

-- name: search_ranked
SELECT f.rowid FROM search f CROSS JOIN messages m ON m.n = f.rowid
WHERE {search_where} ORDER BY f.rank LIMIT ?8 OFFSET ?9

-- name: sessions_of_turns
SELECT t.n, s.key FROM turns t JOIN sessions s ON s.n = t.session WHERE t.n IN (SELECT value FROM json_each(?))

-- name: paths
WITH RECURSIVE walk (hit, n) AS (
    SELECT value, value FROM json_each(?)
    UNION ALL
    SELECT walk.hit, m.parent FROM walk CROSS JOIN messages m ON m.n = walk.n WHERE m.parent < walk.n
)
SELECT walk.hit, m.id FROM walk JOIN messages m ON m.n = walk.n ORDER BY walk.hit, m.n
