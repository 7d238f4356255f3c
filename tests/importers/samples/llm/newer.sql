-- llm since 0.32, in the same file: one thread goes on from a conversation of the older tables, one was forked from another.
CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT);
CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT, text TEXT, payload TEXT);
CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT, datetime_utc TEXT);
CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, model TEXT, resolved_model TEXT,
  options_json TEXT, schema_id TEXT, input_tokens INTEGER, output_tokens INTEGER, token_details TEXT, duration_ms INTEGER,
  datetime_utc TEXT, response_json TEXT);

INSERT INTO messages VALUES ('b2:w1', NULL, 'user', NULL), ('b2:w2', 'b2:w1', 'assistant', NULL), ('b2:w3', 'b2:w2', 'user', NULL),
  ('b2:w4', 'b2:w3', 'assistant', NULL);
INSERT INTO parts VALUES (1, 'b2:w1', 0, 'text', NULL, 'How is the wind?', NULL), (2, 'b2:w2', 0, 'text', NULL, 'Strong.', NULL),
  (3, 'b2:w3', 0, 'text', NULL, NULL, '{"text_ref": [{"fragment": 1}, {"literal": "\nStill?"}]}'), (4, 'b2:w4', 0, 'text', NULL, 'Weaker.', NULL);
INSERT INTO threads VALUES ('01old00000000000000000000b', 'Wind', 'b2:w4', NULL, '2026-08-05 10:00:00+00:00');
INSERT INTO turns VALUES ('01new0000000000000000000t1', '01old00000000000000000000b', 'b2:w3', 'b2:w4', 'gpt-5', NULL, NULL, NULL, 50, 4, NULL,
  500, '2026-08-05T10:00:00+00:00', NULL);

INSERT INTO messages VALUES ('b2:s1', NULL, 'system', NULL), ('b2:s2', 'b2:s1', 'user', NULL), ('b2:s3', 'b2:s2', 'assistant', '{"id": "x"}'),
  ('b2:s4', 'b2:s3', 'tool', NULL), ('b2:s5', 'b2:s4', 'assistant', NULL), ('b2:s6', 'b2:s5', 'user', NULL), ('b2:s7', 'b2:s6', 'assistant', NULL),
  ('b2:s8', 'b2:s5', 'user', NULL), ('b2:s9', 'b2:s8', 'assistant', NULL);
INSERT INTO parts VALUES (10, 'b2:s1', 0, 'text', NULL, 'Be brief.', NULL), (11, 'b2:s2', 0, 'text', NULL, 'Is it snowing?', NULL),
  (12, 'b2:s2', 1, 'attachment', NULL, NULL, '{"attachment": {"id": "aa"}}'),
  (13, 'b2:s3', 0, 'reasoning', NULL, 'I should look.', NULL),
  (14, 'b2:s3', 1, 'tool_call', 'look_out', NULL, '{"name": "look_out", "arguments": {"where": "door"}, "tool_call_id": "c1"}'),
  (15, 'b2:s4', 0, 'tool_result', 'look_out', NULL, '{"name": "look_out", "output": "", "tool_call_id": "c1", "exception": "KeyError: door"}'),
  (16, 'b2:s5', 0, 'text', NULL, 'I cannot see.', NULL), (17, 'b2:s6', 0, 'text', NULL, 'Look again.', NULL),
  (18, 'b2:s7', 0, 'text', NULL, 'It snows.', NULL), (19, 'b2:s7', 1, 'hologram', NULL, 'new', NULL),
  (20, 'b2:s8', 0, 'text', NULL, 'Never mind.', NULL), (21, 'b2:s9', 0, 'text', NULL, 'Fine.', NULL);
INSERT INTO threads VALUES ('01new00000000000000000000a', 'Snow', 'b2:s7', NULL, '2026-08-06 10:00:00+00:00'),
  ('01new00000000000000000000b', NULL, 'b2:s9', '01new00000000000000000000a', '2026-08-06 11:00:00+00:00');
INSERT INTO turns VALUES
  ('01new0000000000000000000t2', '01new00000000000000000000a', 'b2:s2', 'b2:s3', 'gpt-5', NULL, NULL, NULL, 60, 6, '{"completion_tokens_details": {"reasoning_tokens": 4}}', 100, '2026-08-06T10:00:00+00:00', NULL),
  ('01new0000000000000000000t3', '01new00000000000000000000a', 'b2:s4', 'b2:s5', 'gpt-5', NULL, NULL, NULL, 70, 7, NULL, 100, '2026-08-06T10:00:01+00:00', NULL),
  ('01new0000000000000000000t4', '01new00000000000000000000a', 'b2:s6', 'b2:s7', 'gpt-5', 'gpt-5-2026', '{"x": 1}', NULL, 80, 8, NULL, 100, '2026-08-06T10:00:02+00:00', NULL),
  ('01new0000000000000000000t5', '01new00000000000000000000b', 'b2:s8', 'b2:s9', 'gpt-5', NULL, NULL, NULL, 90, 9, NULL, 100, '2026-08-06T11:00:02+00:00', NULL);
