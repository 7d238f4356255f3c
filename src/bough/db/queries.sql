-- The statements that both engines share, by name. Those that differ are in queries.ENGINE.sql.
-- Parameters are question marks, numbered if one is used twice. A list is one parameter: a JSON array of numbers, or of
-- texts if it is called `names`. `{name}` is replaced by the fragment of that name, `{turn_columns}` and `{turn_values}`
-- by the columns of a table, from rows.py, and their parameters. No statement contains a namespace: it is added for
-- PostgreSQL, in postgres/statements.sql.

-- fragment: load
-- The messages in `wanted`: one row each with its first block, then one row for every other block.
SELECT m.n, m.id, m.parent, m.turn, m.role, m.kind, m.covers, m.label, m.error, m.digest, m.envelope, m.created_at,
       m.weight, m.blocks, 0 AS position, CAST(NULL AS integer) AS inside, m.type, m.modality, m.mime, m.call_id,
       m.name, m.content, m.packed, m.extra, m.raw, x.encoding, y.bytes
FROM wanted CROSS JOIN messages m ON m.n = wanted.n
LEFT JOIN blobs x ON x.n = m.blob LEFT JOIN blob_bytes y ON y.n = m.blob
UNION ALL
SELECT b.message, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       b.position, b.inside, b.type, b.modality, b.mime, b.call_id,
       b.name, b.content, b.packed, b.extra, b.raw, x.encoding, y.bytes
FROM wanted CROSS JOIN blocks b ON b.message = wanted.n AND wanted.blocks > 0
LEFT JOIN blobs x ON x.n = b.blob LEFT JOIN blob_bytes y ON y.n = b.blob

-- fragment: up
-- The next step of a walk to the root. A parent has a smaller number than its child; the condition ends the walk even
-- in a file whose parents were edited into a cycle.
UNION ALL SELECT m.n, m.blocks, m.parent FROM wanted CROSS JOIN messages m ON m.n = wanted.parent AND m.n < wanted.n

-- fragment: walk
UNION ALL
SELECT m.parent FROM walk CROSS JOIN messages m ON m.n = walk.n WHERE m.parent < walk.n

-- fragment: given
-- The number of one message, as a table.
(SELECT CAST(? AS bigint) AS n)

-- fragment: at_heads
-- The sessions with these heads: those that a turn of their own took there, and those that were placed there.
SELECT s.n, s.head, s.key, s.activity
FROM json_each(?1) wanted CROSS JOIN messages m ON m.n = wanted.value CROSS JOIN turns t ON t.n = m.turn
CROSS JOIN sessions s ON s.n = t.session WHERE s.head = m.n AND s.placed IS NULL
UNION ALL
SELECT s.n, s.head, s.key, s.activity FROM json_each(?1) wanted CROSS JOIN sessions s ON s.placed = wanted.value

-- fragment: idle
-- Last used before the first parameter, or expired at the third, and of the channel of the second.
(s.updated_at < ?1 AND s.parent IS NULL OR s.expires_at <= ?3 OR s.updated_at + s.expires_after <= ?3)
AND s.pinned_at IS NULL AND (s.channel = ?2 OR ?2 IS NULL)

-- fragment: highest
(SELECT max(n) FROM (SELECT max(n) AS n FROM messages UNION ALL SELECT highest FROM state) used)

-- fragment: last_activity
-- The highest activity that a session has, or had when it was deleted.
(SELECT max(activity) FROM (SELECT max(activity) AS activity FROM sessions UNION ALL SELECT activity FROM state) used)

-- fragment: next_activity
-- The activity of a session that is used now: the time, or one more than the last where a clock went back.
(SELECT max(activity) FROM (
    SELECT CAST(? AS bigint) AS activity UNION ALL SELECT max(activity) + 1 FROM sessions
    UNION ALL SELECT activity + 1 FROM state) used)

-- fragment: is_taken
WHERE EXISTS (SELECT 1 FROM messages m WHERE m.id = names.value)
   OR EXISTS (SELECT 1 FROM trash_names t WHERE t.name = names.value)

-- fragment: session
SELECT s.key, s.channel, s.channel_id, h.id, s.revision, s.directory, s.title, s.agent, s.model, p.key, c.id,
       s.forked_from, s.extra, s.created_at, s.updated_at, s.activity, s.pinned_at, s.expires_at, s.expires_after
FROM sessions s LEFT JOIN messages h ON h.n = s.head LEFT JOIN sessions p ON p.n = s.parent
LEFT JOIN messages c ON c.n = s.parent_message

-- fragment: turn
(SELECT id FROM messages WHERE n = t.n), (SELECT key FROM sessions WHERE n = t.session), t.status,
(SELECT id FROM messages WHERE n = t.parent), (SELECT id FROM messages WHERE n = t.last),
t.input_tokens, t.output_tokens, t.cached_tokens, t.reasoning_tokens, t.cost, t.model, t.provider, t.request_id,
t.idempotency_key, t.instructions_digest, (SELECT id FROM messages WHERE n = t.caller), t.caller_call, t.error,
t.metadata, t.started_at, t.first_token_at, t.finished_at, t.context_tokens

-- fragment: reply
(SELECT id FROM messages WHERE n = r.message), (SELECT id FROM messages WHERE n = r.turn),
(SELECT key FROM sessions WHERE n = r.session), r.model, r.provider, r.request_id, r.input_tokens, r.output_tokens,
r.cached_tokens, r.reasoning_tokens, r.cost, r.started_at, r.first_token_at, r.finished_at

-- fragment: paid
-- One row for each reply, and one for each turn of which no reply is known.
SELECT r.message, r.turn, r.session, r.model, r.provider, r.input_tokens, r.output_tokens, r.cached_tokens,
       r.reasoning_tokens, r.cost, r.finished_at AS time, 1 AS replies
FROM replies r
UNION ALL
SELECT t.last, t.n, t.session, t.model, t.provider, NULL, NULL, NULL, NULL, NULL, t.started_at, 0
FROM turns t WHERE t.n NOT IN (SELECT turn FROM replies WHERE turn IS NOT NULL)

-- fragment: first_name
CASE CAST(?1 AS text) WHEN 'model' THEN p.model WHEN 'provider' THEN p.provider WHEN 'day' THEN {day}
    WHEN 'session' THEN (SELECT key FROM sessions WHERE n = p.session)
    WHEN 'agent' THEN (SELECT agent FROM sessions WHERE n = p.session)
    WHEN 'label' THEN (SELECT label FROM messages WHERE n = p.message) END {bytewise}

-- fragment: second_name
CASE CAST(?2 AS text) WHEN 'model' THEN p.model WHEN 'provider' THEN p.provider WHEN 'day' THEN {day}
    WHEN 'session' THEN (SELECT key FROM sessions WHERE n = p.session)
    WHEN 'agent' THEN (SELECT agent FROM sessions WHERE n = p.session)
    WHEN 'label' THEN (SELECT label FROM messages WHERE n = p.message) END {bytewise}

-- fragment: sum_input
coalesce(replies.input_tokens + excluded.input_tokens, replies.input_tokens, excluded.input_tokens)

-- fragment: sum_output
coalesce(replies.output_tokens + excluded.output_tokens, replies.output_tokens, excluded.output_tokens)

-- fragment: sum_cached
coalesce(replies.cached_tokens + excluded.cached_tokens, replies.cached_tokens, excluded.cached_tokens)

-- fragment: sum_reasoning
coalesce(replies.reasoning_tokens + excluded.reasoning_tokens, replies.reasoning_tokens, excluded.reasoning_tokens)

-- fragment: sum_cost
coalesce(replies.cost + excluded.cost, replies.cost, excluded.cost)

-- fragment: of_session
?1 IS NULL OR t.session = (SELECT n FROM sessions WHERE key = ?1)

-- fragment: search_filters
-- The conditions of a search. Each parameter that is NULL or 0 allows everything.
{message_filters}
AND (?9 IS NULL OR m.n IN (
    WITH RECURSIVE walk (n) AS (SELECT head FROM sessions WHERE key = ?9 {walk}) SELECT n FROM walk)
    OR m.turn IN (SELECT t.n FROM turns t JOIN sessions s ON s.n = t.session WHERE s.key = ?9))

-- fragment: message_filters
-- Those except the session. Those of a turn are asked for only if the fifteenth is 1. `has` is a sum of bits, as in
-- `storage.search_query`.
(m.role = ?5 OR ?5 IS NULL) AND (m.label = ?6 OR ?6 IS NULL)
AND (m.created_at >= ?7 OR ?7 IS NULL) AND (m.created_at < ?8 OR ?8 IS NULL)
AND (?10 IS NULL OR m.n NOT IN ({excluded}))
AND (CAST(?11 AS integer) & 1 = 0 OR m.modality = 'image'
    OR EXISTS (SELECT 1 FROM blocks b WHERE b.message = m.n AND b.modality = 'image'))
AND (CAST(?11 AS integer) & 2 = 0 OR m.modality IS NOT NULL
    OR EXISTS (SELECT 1 FROM blocks b WHERE b.message = m.n AND b.modality IS NOT NULL))
AND (CAST(?11 AS integer) & 4 = 0 OR m.type = 'tool_call'
    OR EXISTS (SELECT 1 FROM blocks b WHERE b.message = m.n AND b.type = 'tool_call'))
AND (CAST(?11 AS integer) & 8 = 0 OR m.error = 1 OR m.type = 'tool_error'
    OR EXISTS (SELECT 1 FROM blocks b WHERE b.message = m.n AND b.type = 'tool_error'))
AND (CAST(?11 AS integer) & 16 = 0
    OR (SELECT count(*) FROM (SELECT m.n AS n) p CROSS JOIN messages c ON {is_child}) > 1)
AND (?12 IS NULL OR m.role = 'assistant' AND lower(coalesce(
    (SELECT r.model FROM replies r WHERE r.message = m.n),
    (SELECT t.model FROM turns t WHERE t.n = m.turn))) LIKE ?12 ESCAPE '!')
AND (?13 IS NULL OR m.type LIKE 'tool%' AND lower(m.name) LIKE ?13 ESCAPE '!'
    OR EXISTS (SELECT 1 FROM blocks b
               WHERE b.message = m.n AND b.type LIKE 'tool%' AND lower(b.name) LIKE ?13 ESCAPE '!'))
AND (?15 = 0 OR EXISTS (
    SELECT 1 FROM turns t LEFT JOIN sessions s ON s.n = t.session WHERE t.n = m.turn
    AND (t.status = ?14 OR ?14 IS NULL) AND (s.channel = ?16 OR ?16 IS NULL)
    AND (?17 = 0 OR s.directory IN (SELECT value FROM json_each(?18) names))
    AND (t.cost >= ?19 OR ?19 IS NULL) AND (t.cost <= ?20 OR ?20 IS NULL)))

-- The load path ------------------------------------------------------------------------------------------------------

-- name: path_from
-- The end of a path: from a node up to the first with a path weight below the second parameter, but at least up to the
-- node with the third number.
WITH RECURSIVE wanted (n, blocks, parent) AS (
    SELECT n, blocks, parent FROM messages WHERE n = ?1 {up} AND (m.weight >= ?2 OR m.n >= ?3)
)
{load} {newest_first}

-- name: path_ids
-- The messages of a path, oldest first, up to where it weighs no more than the second parameter.
WITH RECURSIVE wanted (n, blocks, parent) AS (
    SELECT n, blocks, parent FROM messages WHERE id = ?1 {up} AND m.weight > ?2
)
SELECT m.id FROM wanted CROSS JOIN messages m ON m.n = wanted.n WHERE m.kind IS NULL AND m.weight > ?2 ORDER BY m.n

-- name: counted_turns
-- The newest turns on a path whose size the provider has counted: that count, the weight of the path there, and the
-- summary that its request began with. A summary between two turns belongs to neither.
WITH RECURSIVE back (turn, place) AS (
    SELECT turn, 0 FROM messages WHERE n = ?
    UNION ALL
    SELECT coalesce(m.turn, p.turn), back.place + 1
    FROM back JOIN turns t ON t.n = back.turn JOIN messages m ON m.n = t.parent LEFT JOIN messages p ON p.n = m.parent
    WHERE back.place < 3
)
SELECT t.context_tokens, m.weight, m.summary FROM back JOIN turns t ON t.n = back.turn JOIN messages m ON m.n = t.last
WHERE t.context_tokens IS NOT NULL ORDER BY back.place LIMIT 1

-- name: nodes
WITH wanted (n, blocks) AS (SELECT m.n, m.blocks FROM json_each(?) wanted CROSS JOIN messages m ON m.n = wanted.value)
{load} {oldest_first}

-- name: page_down
WITH wanted (n, blocks) AS (SELECT n, blocks FROM messages WHERE n < ? ORDER BY n DESC LIMIT ? OFFSET ?)
{load} {newest_first}

-- name: page_up
WITH wanted (n, blocks) AS (SELECT n, blocks FROM messages WHERE n > ? ORDER BY n LIMIT ? OFFSET ?)
{load} {oldest_first}

-- name: labelled_down
WITH wanted (n, blocks) AS (SELECT n, blocks FROM messages WHERE label = ? AND n < ? ORDER BY n DESC LIMIT ? OFFSET ?)
{load} {newest_first}

-- name: labelled_up
WITH wanted (n, blocks) AS (SELECT n, blocks FROM messages WHERE label = ? AND n > ? ORDER BY n LIMIT ? OFFSET ?)
{load} {oldest_first}

-- name: labels
SELECT label, count(*) FROM messages WHERE label IS NOT NULL AND (? = 1 OR label NOT LIKE 'subagent:%')
GROUP BY label ORDER BY count(*) DESC, label

-- name: children
WITH wanted (n, blocks) AS (SELECT c.n, c.blocks FROM {given} p CROSS JOIN messages c ON {is_child})
{load} ORDER BY 1, position

-- name: subtree
WITH RECURSIVE wanted (n, blocks) AS (
    SELECT n, blocks FROM messages WHERE n = ?
    UNION ALL SELECT c.n, c.blocks FROM wanted p CROSS JOIN messages c ON {is_child} WHERE c.n > p.n
)
{load} ORDER BY 1, position

-- name: outline
-- These messages, with all descendants if the third parameter is 1, each with the block that is its best preview:
-- text if there is any, and prompts before attachments.
WITH RECURSIVE below (n) AS (
    SELECT value FROM json_each(?1)
    UNION ALL SELECT c.n FROM below p CROSS JOIN messages c ON {is_child} WHERE c.n > p.n AND ?3 = 1
)
SELECT m.n, m.id, m.parent, m.turn, m.role, m.kind, m.label, m.created_at, t.status,
       coalesce(b.type, m.type), CASE WHEN b.type IS NULL THEN m.name ELSE b.name END,
       substr(CASE WHEN b.type IS NULL THEN m.content ELSE b.content END, 1, CAST(?2 AS integer)),
       CASE WHEN b.type IS NULL THEN m.packed ELSE b.packed END, CASE WHEN b.type IS NULL THEN m.blob ELSE b.blob END,
       x.encoding
FROM below CROSS JOIN messages m ON m.n = below.n LEFT JOIN turns t ON t.n = m.turn
LEFT JOIN blocks b ON b.message = m.n AND b.position = CASE WHEN m.blocks > 0 THEN (
    SELECT position FROM (
        SELECT 0 AS position, m.type AS type, m.extra AS extra
        UNION ALL SELECT position, type, extra FROM blocks WHERE message = m.n) said
    ORDER BY CASE type WHEN 'text' THEN 0 WHEN 'tool_call' THEN 1 WHEN 'thinking' THEN 3 WHEN 'extra' THEN 4
                       WHEN 'raw' THEN 4 WHEN 'envelope' THEN 4 ELSE 2 END,
             CASE WHEN extra LIKE '_"file":%' THEN 1 ELSE 0 END, position LIMIT 1) END
LEFT JOIN blobs x ON x.n = CASE WHEN b.type IS NULL THEN m.blob ELSE b.blob END ORDER BY m.n

-- name: segments
-- The runs of messages below some roots: the first, the last, the length and the message before each. A run ends where a
-- message has no child or several, and at the numbers in the second list. What is later than the third parameter does not
-- count.
WITH RECURSIVE below (n, first) AS (
    SELECT m.n, m.n FROM json_each(?1) wanted CROSS JOIN messages m ON m.n = wanted.value WHERE m.created_at <= ?3
    UNION ALL
    SELECT c.n, CASE WHEN p.n IN (SELECT value FROM json_each(?2))
                       OR (SELECT count(*) FROM messages c WHERE {is_child} AND c.created_at <= ?3) > 1
                       THEN c.n ELSE p.first END
    FROM below p CROSS JOIN messages c ON {is_child} WHERE c.n > p.n AND c.created_at <= ?3
)
SELECT s.first, s.last, s.messages, m.parent
FROM (SELECT first, max(n) AS last, count(*) AS messages FROM below GROUP BY first) s
CROSS JOIN messages m ON m.n = s.first ORDER BY s.first

-- name: heads
SELECT head FROM sessions WHERE head IS NOT NULL

-- name: roots_of_session
-- The roots of the trees that a session is in, or has added turns to.
WITH RECURSIVE walk (n) AS (
    SELECT head FROM sessions WHERE n = ?1 AND head IS NOT NULL
    UNION SELECT n FROM turns WHERE session = ?1 AND n > 0
    UNION SELECT m.parent FROM walk CROSS JOIN messages m ON m.n = walk.n WHERE m.parent < walk.n
)
SELECT m.n FROM walk CROSS JOIN messages m ON m.n = walk.n
WHERE NOT EXISTS (SELECT 1 FROM messages p WHERE p.n = m.parent AND p.n < m.n) ORDER BY m.n

-- name: sessions_at_heads
SELECT head, key FROM ({at_heads}) x ORDER BY activity

-- name: roots
SELECT m.n FROM messages m WHERE NOT EXISTS (SELECT 1 FROM messages p WHERE p.n = m.parent AND p.n < m.n)
  AND (? = 1 OR m.label IS NULL OR m.label NOT LIKE 'subagent:%')

-- name: first_messages
-- Messages without a parent, by their number, and whether their trees are listed.
SELECT n, ? = 1 OR label IS NULL OR label NOT LIKE 'subagent:%' FROM messages WHERE parent IS NULL

-- name: later_children
-- The messages that do not follow the one before them, and their parents.
SELECT n, parent FROM messages WHERE parent <> n - 1

-- name: any_run
-- Whether a run of a subagent began a tree.
SELECT 1 FROM messages WHERE label >= 'subagent:' AND label < 'subagent;' AND parent IS NULL LIMIT 1

-- name: recent_leaves
SELECT p.n FROM messages p WHERE p.n < ? AND NOT EXISTS (SELECT 1 FROM messages c WHERE {is_child})
  AND (? = 1 OR p.label IS NULL OR p.label NOT LIKE 'subagent:%') ORDER BY p.n DESC LIMIT ?

-- name: roots_above
WITH RECURSIVE walk (n) AS (
    SELECT value FROM json_each(?)
    UNION SELECT m.parent FROM walk CROSS JOIN messages m ON m.n = walk.n WHERE m.parent < walk.n
)
SELECT m.n FROM walk CROSS JOIN messages m ON m.n = walk.n
WHERE NOT EXISTS (SELECT 1 FROM messages p WHERE p.n = m.parent AND p.n < m.n)

-- name: size
SELECT (SELECT count(*) FROM messages), (SELECT count(*) FROM messages WHERE parent IS NULL),
       (SELECT count(*) FROM messages WHERE parent IS NULL AND label LIKE 'subagent:%'),
       (SELECT count(*) FROM sessions), (SELECT count(*) FROM turns), (SELECT count(*) FROM trash)

-- name: ids
SELECT n, id FROM messages WHERE n IN (SELECT value FROM json_each(?))

-- name: numbers
SELECT m.id, m.n FROM json_each(?) names CROSS JOIN messages m ON m.id = names.value

-- name: number
SELECT n FROM messages WHERE id = ?

-- name: numbers_by_prefix
SELECT id, n FROM messages WHERE id > ? AND id < ? ORDER BY id LIMIT 6

-- name: newest_by_prefix
SELECT id FROM messages WHERE id >= ? AND id < ? ORDER BY n DESC LIMIT ?

-- name: ancestors
WITH RECURSIVE walk (n) AS (SELECT n FROM messages WHERE n = ? {walk}) SELECT n FROM walk

-- name: message_header
SELECT n, parent, digest, role, turn, created_at, weight, summary FROM messages WHERE n = ?

-- name: child_digests
SELECT c.n, c.digest FROM {given} p CROSS JOIN messages c ON {is_child} ORDER BY c.n

-- name: roots_by_digest
SELECT n FROM messages WHERE parent IS NULL AND digest = ? ORDER BY n

-- name: blob
SELECT x.n, x.size, x.encoding FROM blobs x JOIN blob_bytes y ON y.n = x.n WHERE x.n = ?

-- name: block_content
SELECT content, packed, blob FROM messages WHERE n = ?1 AND ?2 = 0 AND type IS NOT NULL
UNION ALL SELECT content, packed, blob FROM blocks WHERE message = ?1 AND position = ?2

-- Rows of older versions -------------------------------------------------------------------------------------------------

-- name: packed_messages
SELECT n, packed FROM messages WHERE n > ? AND packed IS NOT NULL ORDER BY n LIMIT ?

-- name: packed_blocks
SELECT message, position, packed FROM blocks
WHERE message >= ?1 AND (message > ?1 OR position > ?2) AND packed IS NOT NULL ORDER BY message, position LIMIT ?3

-- name: unpack_message
UPDATE messages SET content = ?, packed = NULL WHERE n = ? AND packed IS NOT NULL

-- name: unpack_block
UPDATE blocks SET content = ?, packed = NULL WHERE message = ? AND position = ? AND packed IS NOT NULL

-- The save path ------------------------------------------------------------------------------------------------------

-- name: taken
SELECT names.value FROM json_each(?1) names {is_taken}

-- name: ground
-- The highest number in use, how many of these names are taken, and the columns of the parent that children depend on.
SELECT {highest}, (SELECT count(*) FROM json_each(?2) names {is_taken}), p.digest, p.created_at, p.weight, p.summary
FROM state LEFT JOIN messages p ON p.n = ?1

-- name: insert_message
INSERT INTO messages ({message_columns}) VALUES ({message_values})

-- name: insert_block
INSERT INTO blocks ({block_columns}) VALUES ({block_values})

-- name: hold_blob
UPDATE blobs SET refs = refs + ?2 WHERE digest = ?1 RETURNING digest, n

-- name: insert_blob
INSERT INTO blobs (n, digest, size, encoding, refs)
SELECT coalesce(max(n), 0) + 1, ?, ?, ?, ? FROM blobs RETURNING digest, n

-- name: insert_blob_bytes
INSERT INTO blob_bytes (n, bytes) VALUES (?, ?)

-- name: set_label
UPDATE messages SET label = ? WHERE n = ?

-- name: find_external
SELECT message, session FROM external_ids WHERE kind = ? AND value = ?

-- name: insert_external
-- An external id keeps its target, unless that was deleted.
INSERT INTO external_ids ({external_columns}) VALUES ({external_values})
ON CONFLICT (kind, value) DO UPDATE SET message = excluded.message, session = excluded.session
WHERE external_ids.message IS NULL AND external_ids.session IS NULL

-- name: give_external
INSERT INTO external_ids ({external_columns}) VALUES ({external_values})
ON CONFLICT (kind, value) DO UPDATE SET message = excluded.message, session = excluded.session

-- name: rename_externals
UPDATE external_ids SET message = ? WHERE message = ?

-- name: imported_messages
-- The stored messages with these external ids, and whether each has a child. A NULL message was deleted here.
SELECT e.value, p.n, p.digest, (SELECT count(*) FROM (SELECT 1 FROM messages c WHERE {is_child} LIMIT 1) x)
FROM json_each(?2) names CROSS JOIN external_ids e ON e.kind = ?1 AND e.value = names.value
LEFT JOIN messages p ON p.n = e.message

-- Sessions -----------------------------------------------------------------------------------------------------------

-- name: session
{session} WHERE s.key = ?

-- name: session_by_number
{session} WHERE s.n = ?

-- name: session_number
SELECT n FROM sessions WHERE key = ?

-- name: session_keys
SELECT n, key FROM sessions WHERE n IN (SELECT value FROM json_each(?))

-- name: session_state
-- The state of a session for a writer, with the columns of `ground` for its head.
SELECT s.n, s.key, s.head, s.revision, s.lease_turn, s.lease_owner, s.lease_until,
       s.activity = {last_activity}, (SELECT session FROM directories WHERE path = ?3),
       {highest}, (SELECT count(*) FROM json_each(?2) names {is_taken}), p.digest, p.created_at, p.weight, p.summary
FROM sessions s LEFT JOIN messages p ON p.n = s.head WHERE s.key = ?1

-- name: leased_session
SELECT head, activity = {last_activity} FROM sessions WHERE n = ? AND lease_owner = ?

-- name: turn_to_end
-- What the end of a turn depends on, while its owner has the lease: the head, whether the session is the last used one,
-- whether a reply is half written, and the role of the turn's last message, or of the one before it if it is a summary.
SELECT s.head, s.activity = {last_activity}, (SELECT count(*) FROM sketches WHERE turn = ?1),
       (SELECT CASE WHEN m.n = m.summary THEN p.role ELSE m.role END
        FROM messages m LEFT JOIN messages p ON p.n = m.parent WHERE m.n = ?2)
FROM sessions s WHERE s.n = ?3 AND s.lease_owner = ?4

-- name: sessions
{session} WHERE s.activity < ?1 AND (s.channel = ?2 OR ?2 IS NULL) AND (s.directory = ?3 OR ?3 IS NULL)
  AND (?4 IS NULL OR s.parent = (SELECT n FROM sessions WHERE key = ?4))
  AND (?5 = 1 OR (s.parent IS NULL AND s.channel IS DISTINCT FROM 'subagent'))
  AND (?6 IS NULL OR s.head IN (
      WITH RECURSIVE below (n) AS (
          SELECT n FROM messages WHERE label = ?6
          UNION SELECT c.n FROM below p CROSS JOIN messages c ON {is_child} WHERE c.n > p.n
      )
      SELECT n FROM below))
  AND (?8 = 0 OR s.pinned_at IS NOT NULL)
ORDER BY s.activity DESC LIMIT ?7

-- name: keys_by_use
SELECT key FROM sessions ORDER BY activity

-- name: session_numbers_by_key
SELECT s.key, s.n, s.head FROM json_each(?) names CROSS JOIN sessions s ON s.key = names.value

-- name: dialogs
-- Of the dialogs of some sessions: messages, turns, the first question and the root.
WITH RECURSIVE walk (session, n, parent, turn, question) AS (
    SELECT s.n, m.n, m.parent, m.turn, CASE WHEN m.role = 'user' AND m.kind IS NULL THEN m.n END
    FROM json_each(?) wanted CROSS JOIN sessions s ON s.n = wanted.value CROSS JOIN messages m ON m.n = s.head
    UNION ALL
    SELECT walk.session, m.n, m.parent, m.turn, CASE WHEN m.role = 'user' AND m.kind IS NULL THEN m.n END
    FROM walk CROSS JOIN messages m ON m.n = walk.parent AND m.n < walk.n
)
SELECT session, count(*), count(DISTINCT turn), min(question), min(n) FROM walk GROUP BY session

-- name: leaves_below
-- The number of messages without children in some trees.
WITH RECURSIVE below (root, n) AS (
    SELECT value, value FROM json_each(?)
    UNION ALL SELECT p.root, c.n FROM below p CROSS JOIN messages c ON {is_child} WHERE c.n > p.n
)
SELECT p.root, count(*) FROM below p WHERE NOT EXISTS (SELECT 1 FROM messages c WHERE {is_child}) GROUP BY p.root

-- name: turns_of_sessions
-- The sums of the turns of some sessions, and the status and the model of the newest turn of each.
SELECT x.session, x.input_tokens, x.output_tokens, x.cached_tokens, x.reasoning_tokens, x.cost, l.status, l.model
FROM (SELECT t.session AS session, CAST(sum(t.input_tokens) AS bigint) AS input_tokens,
             CAST(sum(t.output_tokens) AS bigint) AS output_tokens, CAST(sum(t.cached_tokens) AS bigint) AS cached_tokens,
             CAST(sum(t.reasoning_tokens) AS bigint) AS reasoning_tokens, sum(t.cost) AS cost, max(t.n) AS newest
      FROM turns t WHERE t.session IN (SELECT value FROM json_each(?)) GROUP BY t.session) x
CROSS JOIN turns l ON l.n = x.newest

-- name: delegates_of_sessions
SELECT parent, count(*) FROM sessions WHERE parent IN (SELECT value FROM json_each(?)) GROUP BY parent

-- name: sessions_at
SELECT n, head FROM ({at_heads}) x ORDER BY n

-- name: session_head
SELECT n, head FROM sessions WHERE n = ?

-- name: idle_sessions
-- A page of the sessions that upkeep may take, after an activity.
SELECT s.activity, s.key FROM sessions s WHERE s.activity > ?4 AND {idle} ORDER BY s.activity LIMIT ?5

-- name: is_idle
SELECT 1 FROM sessions s WHERE s.key = ?4 AND {idle}

-- name: pinned_session
SELECT s.n FROM json_each(?) wanted CROSS JOIN sessions s ON s.n = wanted.value WHERE s.pinned_at IS NOT NULL LIMIT 1

-- name: child_sessions
SELECT n, key FROM sessions WHERE parent = ? ORDER BY n

-- name: family
-- A session and those that work for it, at any depth.
WITH RECURSIVE family (n) AS (
    SELECT n FROM sessions WHERE key = ?
    UNION SELECT s.n FROM family f CROSS JOIN sessions s ON s.parent = f.n
)
{session} WHERE s.n IN (SELECT n FROM family) ORDER BY s.n

-- name: insert_session
INSERT INTO sessions (n, key, channel, channel_id, directory, head, placed, revision, activity, parent, forked_from,
                      title, agent, model, extra, created_at, updated_at)
SELECT (SELECT max(n) FROM (SELECT max(n) AS n FROM sessions UNION ALL SELECT sessions FROM state) used) + 1,
       ?, ?, ?, ?, ?, ?, 0, {next_activity}, ?, ?, ?, ?, ?, ?, ?, ? RETURNING n

-- name: update_session
UPDATE sessions SET directory = coalesce(?, directory), title = coalesce(?, title), agent = coalesce(?, agent),
                    model = coalesce(?, model), extra = coalesce(?, extra) WHERE n = ?

-- name: set_extra
UPDATE sessions SET extra = ? WHERE n = ?

-- name: link_session
UPDATE sessions SET parent = ?, parent_message = coalesce(?, parent_message) WHERE n = ?

-- name: restore_description
UPDATE sessions SET revision = ?, forked_from = ?, extra = ?, created_at = ?, updated_at = ? WHERE n = ?

-- name: pin_session
UPDATE sessions SET pinned_at = ? WHERE n = ?

-- name: set_expiry
UPDATE sessions SET expires_at = ?, expires_after = ? WHERE n = ?

-- name: date_session
UPDATE sessions SET created_at = ?, updated_at = ? WHERE n = ?

-- name: move_head
UPDATE sessions SET head = ?1, placed = ?1, revision = revision + 1 WHERE n = ?2

-- name: advance_head
-- To a message of a turn of its own, which has ended: so has its lease.
UPDATE sessions SET head = ?, placed = NULL, revision = revision + 1, updated_at = ?,
       lease_turn = NULL, lease_owner = NULL, lease_until = NULL WHERE n = ?

-- name: place_head
UPDATE sessions SET placed = head WHERE n = ?

-- name: date_use
UPDATE sessions SET updated_at = ? WHERE n = ?

-- name: use_session
UPDATE sessions SET activity = {next_activity} WHERE n = ?

-- name: keep_activity
UPDATE state SET activity = ?1 WHERE activity < ?1

-- name: renew_activity
-- A session that was the last one used for a while keeps its activity (see `storage.turns.advance`); before another one
-- is placed into that while, it gets that of its last use.
UPDATE sessions SET activity = updated_at
WHERE n = (SELECT n FROM sessions WHERE activity <= ?1 ORDER BY activity DESC LIMIT 1) AND updated_at > ?1

-- name: free_activity
-- The first free activity from one on that another session has; nothing if no other session has that one.
SELECT o.activity + 1 FROM sessions o
WHERE o.activity >= ?1 AND EXISTS (SELECT 1 FROM sessions x WHERE x.activity = ?1 AND x.n <> ?2)
  AND NOT EXISTS (SELECT 1 FROM sessions x WHERE x.activity = o.activity + 1 AND x.n <> ?2) ORDER BY o.activity LIMIT 1

-- name: place_session
UPDATE sessions SET activity = ? WHERE n = ?

-- name: set_directory
INSERT INTO directories (path, session, at) VALUES (?, ?, ?)
ON CONFLICT (path) DO UPDATE SET session = excluded.session, at = excluded.at

-- name: session_of_directory
{session} WHERE s.n = (SELECT session FROM directories WHERE path = ?)

-- name: directories_of
SELECT {directory_columns} FROM directories WHERE session = ?

-- name: delete_directory
DELETE FROM directories WHERE path = ?

-- name: insert_directory
INSERT INTO directories ({directory_columns}) VALUES ({directory_values})

-- name: restore_directory
INSERT INTO directories ({directory_columns}) VALUES ({directory_values}) ON CONFLICT DO NOTHING

-- name: take_lease
UPDATE sessions SET lease_turn = ?, lease_owner = ?, lease_until = ?, updated_at = ? WHERE n = ?

-- name: renew_lease
-- Only its owner can.
UPDATE sessions SET lease_until = ?, updated_at = ? WHERE n = ? AND lease_owner = ? RETURNING n

-- name: drop_lease
UPDATE sessions SET lease_turn = NULL, lease_owner = NULL, lease_until = NULL WHERE n = ?

-- name: delete_session
DELETE FROM sessions WHERE n = ?

-- Turns --------------------------------------------------------------------------------------------------------------

-- name: turn
SELECT {turn} FROM turns t WHERE t.n = ?

-- name: turns
SELECT {turn} FROM turns t
WHERE ({of_session}) AND (t.status = ?2 OR ?2 IS NULL) AND t.n < ?3 AND t.n > 0 ORDER BY t.n DESC LIMIT ?4

-- name: turns_of_family
SELECT {turn} FROM json_each(?) names CROSS JOIN sessions s ON s.key = names.value
CROSS JOIN turns t ON t.session = s.n WHERE t.n > 0 ORDER BY t.n

-- name: turns_since
-- The turns of a session that begin after a message and did not complete.
SELECT {turn} FROM turns t WHERE t.session = ? AND t.n > ? AND t.status IN ('running', 'interrupted', 'failed')
ORDER BY t.n DESC

-- name: last_turn_before
-- The end of the last turn of a session's dialog that had ended at a time.
SELECT last FROM turns WHERE session = ? AND n > 0 AND status IN ('complete', 'stopped') AND finished_at <= ?
ORDER BY n DESC LIMIT 1

-- name: last_use_before
SELECT max(started_at) FROM turns WHERE session = ? AND started_at <= ?

-- name: turns_begun
SELECT {turn} FROM turns t WHERE t.n IN (SELECT value FROM json_each(?)) ORDER BY t.n DESC

-- name: status_at
-- How the turn of a message ended.
SELECT t.status FROM messages m JOIN turns t ON t.n = m.turn WHERE m.id = ?

-- name: turn_span
SELECT last, parent, status, session FROM turns WHERE n = ?

-- name: turn_by_key
SELECT n, status FROM turns WHERE session = ? AND idempotency_key = ?

-- name: insert_turn
INSERT INTO turns ({turn_columns}) VALUES ({turn_values})

-- name: extend_turn
UPDATE turns SET last = ?1, model = coalesce(?2, model), provider = coalesce(?3, provider),
       request_id = coalesce(?4, request_id), input_tokens = coalesce(input_tokens + ?5, input_tokens, ?5),
       output_tokens = coalesce(output_tokens + ?6, output_tokens, ?6),
       cached_tokens = coalesce(cached_tokens + ?7, cached_tokens, ?7),
       reasoning_tokens = coalesce(reasoning_tokens + ?8, reasoning_tokens, ?8),
       cost = coalesce(cost + ?9, cost, ?9), context_tokens = coalesce(?10, context_tokens),
       instructions_digest = coalesce(?11, instructions_digest), metadata = ?12,
       first_token_at = coalesce(first_token_at, ?13) WHERE n = ?14

-- name: set_turn_metadata
UPDATE turns SET metadata = ? WHERE n = ?

-- name: end_turn
UPDATE turns SET status = ?, error = ?, finished_at = ? WHERE n = ?

-- name: reopen_turn
UPDATE turns SET status = 'running', error = NULL, finished_at = NULL WHERE n = ?

-- name: drop_idempotency_key
UPDATE turns SET idempotency_key = NULL WHERE n = ?

-- name: half_reply
-- The message before a reply that was cut off; nothing for any other message.
SELECT parent FROM messages WHERE n = ? AND role = 'assistant' AND error = 1

-- name: cut_turn
UPDATE turns SET last = ? WHERE n = ?

-- name: sketch
SELECT content FROM sketches WHERE turn = ?

-- name: set_sketch
INSERT INTO sketches (turn, content) VALUES (?, ?) ON CONFLICT (turn) DO UPDATE SET content = excluded.content

-- name: drop_sketch
DELETE FROM sketches WHERE turn = ?

-- name: running_turns
SELECT t.n, s.n, s.lease_turn, s.lease_owner, s.lease_until, s.key, t.parent
FROM turns t LEFT JOIN sessions s ON s.n = t.session WHERE t.status = 'running'

-- name: lowest_turn
-- The lowest number of a turn: below zero while an answer has no message, by which it would be known.
SELECT min(n) FROM turns

-- name: renumber_turn
UPDATE turns SET n = ?, last = ? WHERE n = ?

-- name: renumber_reply
UPDATE replies SET message = ?1, turn = ?1 WHERE message = ?2

-- name: half_answers
-- The replies to a message that a turn began with.
SELECT c.n FROM {given} p CROSS JOIN messages c ON {is_child} WHERE c.turn = ? ORDER BY c.n

-- name: give_messages
UPDATE messages SET turn = ? WHERE n IN (SELECT value FROM json_each(?))

-- name: running_turns_in
SELECT t.n, s.n, s.lease_turn, s.lease_owner, s.lease_until, s.key, t.parent
FROM turns t JOIN sessions s ON s.n = t.session
WHERE t.status = 'running' AND t.last IN (SELECT value FROM json_each(?))

-- Replies ------------------------------------------------------------------------------------------------------------

-- name: add_reply
-- A second row for one message adds to the first: what was spent before a reply, or after it without another message.
INSERT INTO replies ({reply_columns}) VALUES ({reply_values})
ON CONFLICT (message) DO UPDATE SET
    model = coalesce(excluded.model, replies.model), provider = coalesce(excluded.provider, replies.provider),
    request_id = coalesce(excluded.request_id, replies.request_id),
    input_tokens = {sum_input}, output_tokens = {sum_output}, cached_tokens = {sum_cached},
    reasoning_tokens = {sum_reasoning}, cost = {sum_cost},
    started_at = coalesce(replies.started_at, excluded.started_at),
    first_token_at = coalesce(replies.first_token_at, excluded.first_token_at), finished_at = excluded.finished_at

-- name: insert_reply
INSERT INTO replies ({reply_columns}) VALUES ({reply_values})

-- name: keep_reply
INSERT INTO replies ({reply_columns}) VALUES ({reply_values}) ON CONFLICT (message) DO NOTHING

-- name: replies
SELECT {reply} FROM replies r
WHERE (r.session = ?1 OR ?1 IS NULL) AND (r.turn = ?2 OR ?2 IS NULL) AND r.message >= ?3 AND r.message <= ?4
  AND (r.finished_at >= ?5 OR ?5 IS NULL) AND (r.finished_at < ?6 OR ?6 IS NULL) ORDER BY r.message DESC LIMIT ?7

-- name: replies_of
SELECT {reply} FROM replies r WHERE r.message IN (SELECT value FROM json_each(?)) ORDER BY r.message DESC

-- name: sum_turns
-- The figures of these turns are the sums of their replies, which come after their first messages.
UPDATE turns SET (input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost) = (
    SELECT sum(r.input_tokens), sum(r.output_tokens), sum(r.cached_tokens), sum(r.reasoning_tokens), sum(r.cost)
    FROM replies r WHERE r.message >= turns.n AND r.turn = turns.n
) WHERE n IN (SELECT value FROM json_each(?))

-- name: usage
-- Totals by none, one or two of: model, provider, session, agent, label, day. Of everything, or of one session; with
-- those who work for it, or for anybody, if the sixth parameter is 1.
SELECT {first_name}, {second_name}, count(DISTINCT p.turn), CAST(sum(p.input_tokens) AS bigint),
       CAST(sum(p.output_tokens) AS bigint), CAST(sum(p.cached_tokens) AS bigint),
       CAST(sum(p.reasoning_tokens) AS bigint), sum(p.cost),
       count(DISTINCT CASE WHEN p.cost IS NULL THEN coalesce(p.turn, p.message) END), CAST(sum(p.replies) AS bigint)
FROM ({paid}) p
WHERE (?3 IS NULL OR p.session IN (
        WITH RECURSIVE family (n) AS (
            SELECT n FROM sessions WHERE key = ?3
            UNION SELECT s.n FROM family f JOIN sessions s ON s.parent = f.n WHERE ?6 = 1)
        SELECT n FROM family))
  AND (?6 = 1 OR ?3 IS NOT NULL
       OR p.session NOT IN (SELECT n FROM sessions WHERE parent IS NOT NULL OR channel = 'subagent'))
  AND (p.time >= ?4 OR ?4 IS NULL) AND (p.time < ?5 OR ?5 IS NULL)
GROUP BY 1, 2 ORDER BY 1 NULLS FIRST, 2 NULLS FIRST

-- Deleting and restoring ---------------------------------------------------------------------------------------------

-- name: with_descendants
WITH RECURSIVE below (n) AS (
    SELECT value FROM json_each(?)
    UNION SELECT c.n FROM below p CROSS JOIN messages c ON {is_child}
)
SELECT n FROM below ORDER BY n

-- name: first_child
SELECT p.id, c.id FROM json_each(?1) wanted CROSS JOIN messages p ON p.n = wanted.value
CROSS JOIN messages c ON {is_child} WHERE c.n NOT IN (SELECT value FROM json_each(?1)) LIMIT 1

-- name: children_of_any
SELECT p.n, c.n FROM (SELECT value AS n FROM json_each(?)) p CROSS JOIN messages c ON {is_child}

-- name: summaries_after
SELECT c.n FROM (SELECT value AS n FROM json_each(?)) p CROSS JOIN messages c ON {is_child}
WHERE c.kind = 'summary' AND c.turn IS NULL

-- name: sessions_of_messages
SELECT m.n, s.n FROM messages m JOIN turns t ON t.n = m.turn JOIN sessions s ON s.n = t.session
WHERE m.n IN (SELECT value FROM json_each(?))

-- name: steps_of_session
-- What the turns of a session have added: from the last message of each up to its first, and half replies beside them.
WITH RECURSIVE walk (n, first) AS (
    SELECT last, n FROM turns WHERE session = ?1 AND n > 0
    UNION
    SELECT m.parent, walk.first FROM walk CROSS JOIN messages m ON m.n = walk.n WHERE m.parent >= walk.first
)
SELECT n FROM walk
UNION SELECT c.n FROM walk p CROSS JOIN messages c ON {is_child} WHERE c.turn = p.first
UNION SELECT c.n FROM (SELECT parent AS n, n AS turn FROM turns WHERE session = ?1 AND n > 0) p
CROSS JOIN messages c ON {is_child} WHERE c.turn = p.turn

-- name: message_rows
SELECT {message_columns} FROM messages WHERE n IN (SELECT value FROM json_each(?)) ORDER BY n

-- name: block_rows
SELECT {block_columns} FROM blocks WHERE message IN (SELECT value FROM json_each(?)) ORDER BY message, position

-- name: turn_rows
SELECT {turn_columns} FROM turns WHERE n IN (SELECT value FROM json_each(?)) ORDER BY n

-- name: reply_rows
SELECT {reply_columns} FROM replies WHERE message IN (SELECT value FROM json_each(?)) ORDER BY message

-- name: turns_ending_in
-- The last message of a turn is one of its own, except in an answer that has none yet, whose number is below zero.
SELECT t.n, t.last FROM json_each(?1) wanted CROSS JOIN messages m ON m.n = wanted.value
CROSS JOIN turns t ON t.n = m.turn WHERE t.last = m.n
UNION ALL SELECT t.n, t.last FROM turns t WHERE t.n < 0 AND t.last IN (SELECT value FROM json_each(?1))

-- name: external_rows
SELECT {external_columns} FROM external_ids WHERE message IN (SELECT value FROM json_each(?))

-- name: external_rows_of_session
SELECT {external_columns} FROM external_ids WHERE session = ? ORDER BY kind, value

-- name: session_row
SELECT {session_columns} FROM sessions WHERE n = ?

-- name: delete_blocks
DELETE FROM blocks WHERE message IN (SELECT value FROM json_each(?))

-- name: delete_turn
DELETE FROM turns WHERE n = ?

-- name: delete_turns
DELETE FROM turns WHERE n IN (SELECT value FROM json_each(?))

-- name: delete_reply
DELETE FROM replies WHERE message = ?

-- name: delete_replies
DELETE FROM replies WHERE message IN (SELECT value FROM json_each(?))

-- name: forget_externals
-- The row stays, with a NULL message, so that a later import does not restore a deleted message.
UPDATE external_ids SET message = NULL WHERE message IN (SELECT value FROM json_each(?))

-- name: delete_messages
DELETE FROM messages WHERE n IN (SELECT value FROM json_each(?))

-- name: keep_numbers
UPDATE state SET highest = ?1 WHERE highest < ?1

-- name: session_numbers
SELECT max(n), {last_activity} FROM (SELECT max(n) AS n FROM sessions UNION ALL SELECT sessions FROM state) used

-- name: keep_session_numbers
UPDATE state SET sessions = ?1 WHERE sessions < ?1

-- name: insert_trash
INSERT INTO trash (n, id, deleted_at, reason, messages, payload)
SELECT coalesce(max(n), 0) + 1, ?, ?, ?, ?, ? FROM trash RETURNING n

-- name: insert_trash_name
INSERT INTO trash_names (name, trash) VALUES (?, ?) ON CONFLICT DO NOTHING

-- name: trash
SELECT n, id, deleted_at, reason, messages FROM trash ORDER BY n DESC

-- name: trash_sessions
SELECT name FROM trash_names WHERE trash = ? AND name LIKE 'session %' ORDER BY name

-- name: trash_entry
SELECT n, id, payload FROM trash WHERE id = ?

-- name: trash_holding
SELECT t.n, t.id, t.payload FROM trash_names x JOIN trash t ON t.n = x.trash WHERE x.name = ? ORDER BY t.n DESC LIMIT 1

-- name: trash_by_prefix
SELECT t.id FROM trash_names x JOIN trash t ON t.n = x.trash WHERE x.name >= ? AND x.name < ?
GROUP BY t.n, t.id ORDER BY t.n DESC LIMIT 6

-- name: old_trash
SELECT n, messages FROM trash WHERE deleted_at < ? ORDER BY n LIMIT ?

-- name: trash_by_number
SELECT n, id, payload FROM trash WHERE n = ?

-- name: delete_trash
DELETE FROM trash WHERE n = ?

-- name: restore_external
INSERT INTO external_ids ({external_columns}) VALUES ({external_values})
ON CONFLICT (kind, value) DO UPDATE SET message = excluded.message WHERE external_ids.message IS NULL

-- name: insert_session_row
INSERT INTO sessions ({session_columns}) VALUES ({session_values})

-- name: release_blob
UPDATE blobs SET refs = refs - ? WHERE n = ?

-- name: sweep_blob_bytes
DELETE FROM blob_bytes WHERE n IN (SELECT x.n FROM json_each(?) wanted CROSS JOIN blobs x ON x.n = wanted.value WHERE x.refs <= 0)

-- name: sweep_blobs
DELETE FROM blobs WHERE n IN (SELECT value FROM json_each(?)) AND refs <= 0

-- Verifying ----------------------------------------------------------------------------------------------------------

-- name: orphans
SELECT m.id, m.parent FROM messages m
WHERE m.parent IS NOT NULL AND (m.parent >= m.n OR NOT EXISTS (SELECT 1 FROM messages p WHERE p.n = m.parent))

-- name: homeless_blocks
SELECT b.message, b.position FROM blocks b WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = b.message)

-- name: delete_homeless_blocks
DELETE FROM blocks WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = blocks.message)

-- name: unreachable
-- The messages that no session stands at or has added, no label or external name is on, and that come before none
-- of these.
WITH RECURSIVE reached (n) AS (
    SELECT head FROM sessions WHERE head IS NOT NULL
    UNION SELECT m.n FROM messages m JOIN turns t ON t.n = m.turn JOIN sessions s ON s.n = t.session
    UNION SELECT n FROM messages WHERE label IS NOT NULL
    UNION SELECT message FROM external_ids WHERE message IS NOT NULL
    UNION SELECT message FROM pins
    UNION SELECT m.parent FROM reached CROSS JOIN messages m ON m.n = reached.n WHERE m.parent IS NOT NULL
)
SELECT m.n, m.id, m.parent, m.kind IS NOT DISTINCT FROM 'summary' AND m.turn IS NULL FROM messages m
WHERE m.n NOT IN (SELECT n FROM reached) ORDER BY m.n

-- name: missing_blocks
SELECT m.id, m.blocks, (SELECT count(*) FROM blocks b WHERE b.message = m.n) FROM messages m
WHERE m.blocks <> (SELECT count(*) FROM blocks b WHERE b.message = m.n)

-- name: missing_blobs
SELECT m.id, 0 FROM messages m
WHERE m.blob IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blobs x JOIN blob_bytes y ON y.n = x.n WHERE x.n = m.blob)
UNION ALL
SELECT m.id, b.position FROM blocks b JOIN messages m ON m.n = b.message
WHERE b.blob IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blobs x JOIN blob_bytes y ON y.n = x.n WHERE x.n = b.blob)

-- name: blob_page
SELECT x.n, x.digest, x.size, x.encoding, y.bytes FROM blobs x JOIN blob_bytes y ON y.n = x.n
WHERE x.n > ? ORDER BY x.n LIMIT 1

-- name: blob_counts
SELECT x.n, x.refs, (SELECT count(*) FROM messages m WHERE m.blob = x.n)
                  + (SELECT count(*) FROM blocks b WHERE b.blob = x.n) FROM blobs x

-- name: set_blob_refs
UPDATE blobs SET refs = ? WHERE n = ?

-- name: dangling_heads
SELECT s.n, s.key FROM sessions s
WHERE s.head IS NOT NULL AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = s.head)

-- name: hidden_heads
-- Sessions that `sessions_at` would not find at their heads.
SELECT s.n, s.key FROM sessions s LEFT JOIN messages m ON m.n = s.head
WHERE s.placed IS DISTINCT FROM s.head AND (s.head IS NULL OR m.n IS NOT NULL)
  AND (s.placed IS NOT NULL OR NOT EXISTS (SELECT 1 FROM turns t WHERE t.n = m.turn AND t.session = s.n))

-- name: last_of_session
SELECT max(t.last) FROM turns t WHERE t.session = ? AND t.status IN ('complete', 'stopped')
  AND EXISTS (SELECT 1 FROM messages m WHERE m.n = t.last)

-- name: broken_turns
SELECT t.n, t.session FROM turns t WHERE t.n > 0 AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = t.n)
   OR NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = t.last)

-- name: trash_payloads
SELECT n, id, payload FROM trash WHERE n > ? ORDER BY n LIMIT ?

-- name: lost_replies
SELECT r.message FROM replies r WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = r.message)
  AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.n = r.message)

-- name: digests
SELECT m.id, m.digest FROM json_each(?) names CROSS JOIN messages m ON m.id = names.value

-- name: wrong_sums
-- Turns whose figures are not the sums of their replies, and how many replies they have.
SELECT t.n, coalesce(x.replies, 0) FROM turns t LEFT JOIN (
    SELECT turn, count(*) AS replies, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
           sum(cached_tokens) AS cached_tokens, sum(reasoning_tokens) AS reasoning_tokens, sum(cost) AS cost
    FROM replies GROUP BY turn
) x ON x.turn = t.n
WHERE x.input_tokens IS DISTINCT FROM t.input_tokens OR x.output_tokens IS DISTINCT FROM t.output_tokens
   OR x.cached_tokens IS DISTINCT FROM t.cached_tokens OR x.reasoning_tokens IS DISTINCT FROM t.reasoning_tokens
   OR (x.cost IS NULL) <> (t.cost IS NULL) OR abs(x.cost - t.cost) > 1e-9 * (1 + abs(t.cost))
ORDER BY t.n

-- Copying ------------------------------------------------------------------------------------------------------------
-- Pages of a table, in key order, after the last row of the previous page.

-- name: message_page
SELECT n, id, digest, label FROM messages WHERE n > ? ORDER BY n LIMIT ?

-- name: turn_page
SELECT {turn_columns} FROM turns WHERE n > ? ORDER BY n LIMIT ?

-- name: reply_page
SELECT {reply_columns} FROM replies WHERE message > ? ORDER BY message LIMIT ?

-- name: session_page
SELECT {session_columns} FROM sessions WHERE n > ? ORDER BY n LIMIT ?

-- name: directory_page
SELECT {directory_columns} FROM directories WHERE path > ? ORDER BY path LIMIT ?

-- name: external_page
SELECT {external_columns} FROM external_ids WHERE kind > ?1 OR (kind = ?1 AND value > ?2) ORDER BY kind, value LIMIT ?3

-- name: names_up
SELECT {external_columns} FROM external_ids
WHERE kind = ? AND value > ? AND (message IS NOT NULL OR session IS NOT NULL) ORDER BY value LIMIT ?

-- name: names_down
SELECT {external_columns} FROM external_ids
WHERE kind = ? AND value < ? AND (message IS NOT NULL OR session IS NOT NULL) ORDER BY value DESC LIMIT ?

-- name: trash_page
SELECT id, n, deleted_at, reason, messages FROM trash WHERE id > ? ORDER BY id LIMIT ?

-- name: trash_names
SELECT name FROM trash_names WHERE trash = ? ORDER BY name

-- name: blobs_by_number
SELECT n, digest, size, encoding FROM blobs WHERE n IN (SELECT value FROM json_each(?))

-- name: blob_content
SELECT bytes FROM blob_bytes WHERE n = ?

-- name: delete_external
DELETE FROM external_ids WHERE kind = ? AND value = ?

-- Search -------------------------------------------------------------------------------------------------------------

-- name: search_state
SELECT indexed, index_format, coalesce((SELECT max(n) FROM messages), 0) FROM state

-- name: unindexed
WITH wanted (n, blocks) AS (SELECT n, blocks FROM messages WHERE n > ? ORDER BY n LIMIT ?) {load} {oldest_first}

-- name: set_indexed
UPDATE state SET indexed = ?, index_format = ?

-- name: index_status
-- How many messages are not indexed, and the time of the last one that is.
SELECT (SELECT count(*) FROM messages WHERE n > ?1),
       (SELECT created_at FROM messages WHERE n <= ?1 ORDER BY n DESC LIMIT 1)

-- name: search_list
-- The messages between two numbers that the filters allow: for a search without words.
SELECT m.n FROM messages m WHERE m.n >= ?1 AND m.n < ?2 AND {search_filters} ORDER BY m.n DESC LIMIT ?3 OFFSET ?4

-- name: search_labelled
-- Like `search_list`, by the index of labels.
SELECT m.n FROM messages m WHERE m.label = ?6 AND m.n >= ?1 AND m.n < ?2 AND {search_filters}
ORDER BY m.n DESC LIMIT ?3 OFFSET ?4

-- name: facets
-- The values of the filters of a search among these messages: the filter, the value, how many messages and sessions.
WITH found (n, role, label, modality, type, error, name, model, status, session, channel, directory) AS (
    SELECT m.n, m.role, m.label, m.modality, m.type, m.error, m.name,
           CASE WHEN m.role = 'assistant' THEN coalesce(r.model, t.model) END, t.status, t.session, s.channel, s.directory
    FROM json_each(?1) wanted CROSS JOIN messages m ON m.n = wanted.value
    LEFT JOIN turns t ON t.n = m.turn LEFT JOIN replies r ON r.message = m.n LEFT JOIN sessions s ON s.n = t.session
), parts (n, session, type, modality, name) AS (
    SELECT n, session, type, modality, name FROM found
    UNION ALL
    SELECT f.n, f.session, b.type, b.modality, b.name FROM found f CROSS JOIN blocks b ON b.message = f.n
)
SELECT 'role', role, count(*), count(DISTINCT session) FROM found GROUP BY role
UNION ALL
SELECT 'channel', channel, count(*), count(DISTINCT session) FROM found GROUP BY channel
UNION ALL
SELECT 'directory', directory, count(*), count(DISTINCT session) FROM found GROUP BY directory
UNION ALL
SELECT 'status', status, count(*), count(DISTINCT session) FROM found GROUP BY status
UNION ALL
SELECT 'label', label, count(*), count(DISTINCT session) FROM found WHERE label IS NOT NULL GROUP BY label
UNION ALL
SELECT 'model', model, count(*), count(DISTINCT session) FROM found WHERE role = 'assistant' GROUP BY model
UNION ALL
SELECT 'tool', name, count(DISTINCT n), count(DISTINCT session) FROM parts
WHERE type LIKE 'tool%' AND name IS NOT NULL GROUP BY name
UNION ALL
SELECT 'has', 'image', count(DISTINCT n), count(DISTINCT session) FROM parts WHERE modality = 'image' HAVING count(*) > 0
UNION ALL
SELECT 'has', 'file', count(DISTINCT n), count(DISTINCT session) FROM parts WHERE modality IS NOT NULL HAVING count(*) > 0
UNION ALL
SELECT 'has', 'tool', count(DISTINCT n), count(DISTINCT session) FROM parts WHERE type = 'tool_call' HAVING count(*) > 0
UNION ALL
SELECT 'has', 'error', count(DISTINCT n), count(DISTINCT session) FROM (
    SELECT n, session FROM found WHERE error = 1 UNION ALL SELECT n, session FROM parts WHERE type = 'tool_error') failed
HAVING count(*) > 0
UNION ALL
SELECT 'has', 'branch', count(*), count(DISTINCT session) FROM found
WHERE (SELECT count(*) FROM (SELECT found.n AS n) p CROSS JOIN messages c ON {is_child}) > 1 HAVING count(*) > 0

-- name: directories_of_sessions
SELECT DISTINCT directory FROM sessions WHERE directory IS NOT NULL

-- name: sessions_of_turns
SELECT t.n, s.key FROM turns t JOIN sessions s ON s.n = t.session WHERE t.n IN (SELECT value FROM json_each(?))

-- name: paths
WITH RECURSIVE walk (hit, n) AS (
    SELECT value, value FROM json_each(?)
    UNION ALL
    SELECT walk.hit, m.parent FROM walk CROSS JOIN messages m ON m.n = walk.n WHERE m.parent < walk.n
)
SELECT walk.hit, m.id FROM walk JOIN messages m ON m.n = walk.n ORDER BY walk.hit, m.n

-- Changes ------------------------------------------------------------------------------------------------------------

-- name: changes
SELECT n, at, kind, session, message FROM changes WHERE n > ? ORDER BY n LIMIT ?

-- name: changes_of_sessions
-- The changes of all sessions, or of one, in their order.
SELECT session, at, kind, message FROM changes WHERE session IS NOT NULL AND (session = ?1 OR ?1 IS NULL) ORDER BY n

-- name: newest_change
SELECT max(n) FROM changes

-- name: kept_changes
SELECT (SELECT min(n) FROM changes), (SELECT max(n) FROM changes)

-- name: prune_changes
DELETE FROM changes WHERE n IN (
    SELECT n FROM changes WHERE n <= (SELECT max(n) FROM changes) - ?1 ORDER BY n LIMIT ?2)

-- Undoing ------------------------------------------------------------------------------------------------------------

-- name: journal
SELECT {journal_columns} FROM journal WHERE (session = ?1 OR ?1 IS NULL) AND (n = ?2 OR ?2 IS NULL)
ORDER BY n DESC LIMIT ?3

-- name: insert_journal
-- Under the number of the newest change.
INSERT INTO journal (n, at, verb, session, message, before, after, trash)
SELECT max(n), ?, ?, ?, ?, ?, ?, ? FROM changes

-- name: delete_journal
DELETE FROM journal WHERE n = ?

-- name: delete_journal_of_trash
DELETE FROM journal WHERE trash = ?

-- name: prune_journal
DELETE FROM journal WHERE n IN (
    SELECT n FROM journal WHERE n <= (SELECT max(n) FROM changes) - ?1 ORDER BY n LIMIT ?2)

-- name: set_title
UPDATE sessions SET title = ? WHERE n = ?

-- name: label_of
SELECT label FROM messages WHERE n = ?

-- Documents ----------------------------------------------------------------------------------------------------------

-- name: document
SELECT name, revision, json, bytes, updated_at FROM documents WHERE session = ? AND name = ?

-- name: documents_up
SELECT name, revision, json, bytes, updated_at FROM documents
WHERE session = ? AND name >= ? AND name > ? AND name < ? AND (json IS NOT NULL OR bytes IS NOT NULL) ORDER BY name LIMIT ?

-- name: documents_down
SELECT name, revision, json, bytes, updated_at FROM documents
WHERE session = ? AND name >= ? AND name > ? AND name < ? AND (json IS NOT NULL OR bytes IS NOT NULL) ORDER BY name DESC LIMIT ?

-- name: documents_named
SELECT name, revision, json, bytes, updated_at FROM documents
WHERE session = ? AND name IN (SELECT value FROM json_each(?) names) AND (json IS NOT NULL OR bytes IS NOT NULL) ORDER BY name

-- name: document_revisions
SELECT name, revision, CASE WHEN json IS NULL AND bytes IS NULL THEN 0 ELSE 1 END FROM documents
WHERE session = ? AND name IN (SELECT value FROM json_each(?) names)

-- name: put_document
INSERT INTO documents (session, name, revision, json, bytes, updated_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (session, name) DO UPDATE
SET revision = excluded.revision, json = excluded.json, bytes = excluded.bytes, updated_at = excluded.updated_at

-- name: insert_document
INSERT INTO documents ({document_columns}) VALUES ({document_values})

-- name: fork_documents
INSERT INTO documents (session, name, revision, json, bytes, updated_at)
SELECT ?, name, revision, json, bytes, updated_at FROM documents WHERE session = ?

-- name: document_rows
SELECT {document_columns} FROM documents WHERE session = ? ORDER BY name

-- name: delete_documents
DELETE FROM documents WHERE session = ?

-- name: delete_document
DELETE FROM documents WHERE session = ? AND name = ?

-- name: document_page
SELECT {document_columns} FROM documents WHERE session > ?1 OR (session = ?1 AND name > ?2)
ORDER BY session, name LIMIT ?3

-- Pins ---------------------------------------------------------------------------------------------------------------

-- name: pins
SELECT (SELECT id FROM messages WHERE n = p.message), p.at FROM pins p ORDER BY p.at DESC, p.message DESC

-- name: pinned
SELECT p.message FROM json_each(?) wanted CROSS JOIN pins p ON p.message = wanted.value

-- name: insert_pin
INSERT INTO pins ({pin_columns}) VALUES ({pin_values}) ON CONFLICT (message) DO NOTHING

-- name: delete_pin
DELETE FROM pins WHERE message = ?

-- name: pin_rows
SELECT {pin_columns} FROM pins WHERE message IN (SELECT value FROM json_each(?)) ORDER BY message

-- name: delete_pins
DELETE FROM pins WHERE message IN (SELECT value FROM json_each(?))

-- name: pin_page
SELECT {pin_columns} FROM pins WHERE message > ? ORDER BY message LIMIT ?

-- name: homeless_pins
SELECT p.message FROM pins p WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = p.message)

-- name: homeless_documents
SELECT d.session, d.name FROM documents d WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.n = d.session)

-- Channels -----------------------------------------------------------------------------------------------------------

-- name: newest_channel_event
SELECT max(n) FROM channel_inbox

-- name: insert_channel_event
INSERT INTO channel_inbox (n, channel, delivery, conversation, event, state, turn, received_at)
VALUES (?, ?, ?, ?, ?, 'waiting', NULL, ?)

-- name: channel_event
SELECT n, delivery, conversation, event, state, turn FROM channel_inbox WHERE channel = ? AND delivery = ?

-- name: open_channel_events
SELECT n, delivery, conversation, event, state, turn FROM channel_inbox WHERE channel = ? AND state <> 'done' ORDER BY n

-- name: set_channel_event
UPDATE channel_inbox SET state = ?2, turn = coalesce(?3, turn) WHERE n = ?1

-- name: change_channel_event
UPDATE channel_inbox SET event = ?3 WHERE channel = ?1 AND delivery = ?2 AND state = 'waiting'

-- name: prune_channel_inbox
DELETE FROM channel_inbox WHERE channel = ? AND state = 'done' AND received_at < ?

-- name: prune_channel_outbox
DELETE FROM channel_outbox WHERE channel = ?1 AND delivery NOT IN (SELECT delivery FROM channel_inbox WHERE channel = ?1)

-- name: channel_parts
SELECT chat, external FROM channel_outbox WHERE channel = ? AND delivery = ? ORDER BY position

-- name: put_channel_part
INSERT INTO channel_outbox (channel, delivery, position, chat, external) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (channel, delivery, position) DO UPDATE SET chat = excluded.chat, external = excluded.external

-- name: delete_channel_part
DELETE FROM channel_outbox WHERE channel = ? AND delivery = ? AND position = ?

-- name: channel_chat
SELECT shown FROM channel_chats WHERE channel = ? AND conversation = ?

-- name: put_channel_chat
INSERT INTO channel_chats (channel, conversation, shown) VALUES (?, ?, ?)
ON CONFLICT (channel, conversation) DO UPDATE SET shown = excluded.shown

-- name: channel_members
SELECT member, name, admitted_at FROM channel_members WHERE channel = ? ORDER BY admitted_at, member

-- name: put_channel_member
INSERT INTO channel_members (channel, member, name, admitted_at) VALUES (?, ?, ?, ?)
ON CONFLICT (channel, member) DO UPDATE SET name = excluded.name

-- name: delete_channel_member
DELETE FROM channel_members WHERE channel = ? AND member = ?

-- name: insert_channel_code
INSERT INTO channel_codes (channel, hash, expires_at) VALUES (?, ?, ?)

-- name: channel_code
SELECT expires_at FROM channel_codes WHERE channel = ? AND hash = ?

-- name: delete_channel_codes
-- A code that was used, and those that have expired.
DELETE FROM channel_codes WHERE channel = ? AND (hash = ? OR expires_at <= ?)

-- name: channel_spending
SELECT tokens, cost FROM channel_spending WHERE channel = ? AND member = ? AND day = ?

-- name: put_channel_spending
INSERT INTO channel_spending (channel, member, day, tokens, cost) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (channel, member, day) DO UPDATE SET tokens = excluded.tokens, cost = excluded.cost

-- name: channel_cursors
SELECT place, cursor FROM channel_cursors WHERE channel = ? ORDER BY place

-- name: put_channel_cursor
INSERT INTO channel_cursors (channel, place, cursor) VALUES (?, ?, ?)
ON CONFLICT (channel, place) DO UPDATE SET cursor = excluded.cursor

-- name: channel_lease
SELECT owner, until FROM channel_leases WHERE channel = ?

-- name: put_channel_lease
INSERT INTO channel_leases (channel, owner, until) VALUES (?, ?, ?)
ON CONFLICT (channel) DO UPDATE SET owner = excluded.owner, until = excluded.until

-- Importers ----------------------------------------------------------------------------------------------------------

-- name: imported_files
-- Files between two paths: those of a directory, or one.
SELECT path, source, size, mtime, tail, reader FROM imported_files WHERE path >= ? AND path < ?

-- name: put_imported_file
INSERT INTO imported_files (path, source, size, mtime, tail, reader) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (path, source) DO UPDATE
SET size = excluded.size, mtime = excluded.mtime, tail = excluded.tail, reader = excluded.reader

-- name: insert_server_token
INSERT INTO server_tokens (id, name, tenant, scopes, hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: server_token
SELECT id, name, tenant, scopes, hash, created_at, expires_at FROM server_tokens WHERE id = ?

-- name: server_tokens
SELECT id, name, tenant, scopes, hash, created_at, expires_at FROM server_tokens ORDER BY created_at DESC, id

-- name: delete_server_token
DELETE FROM server_tokens WHERE id = ?
