-- llm up to 0.31: responses, one after another in a conversation.
CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, prompt_json TEXT, options_json TEXT, response TEXT,
  response_json TEXT, conversation_id TEXT, duration_ms INTEGER, datetime_utc TEXT, input_tokens INTEGER, output_tokens INTEGER,
  token_details TEXT, schema_id TEXT, resolved_model TEXT);
CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, "order" INTEGER);
CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT, datetime_utc TEXT, source TEXT);
CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
CREATE TABLE system_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, arguments TEXT, tool_call_id TEXT);
CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, output TEXT, tool_call_id TEXT,
  instance_id INTEGER, exception TEXT);
CREATE TABLE tool_results_attachments (tool_result_id INTEGER, attachment_id TEXT, "order" INTEGER);

INSERT INTO conversations VALUES ('01old00000000000000000000a', 'Weather', 'gpt-4o-mini'), ('01old00000000000000000000b', 'Wind', 'gpt-4o-mini');
INSERT INTO attachments VALUES ('aa', 'image/png', NULL, NULL, X'89504E470D0A1A0A'), ('bb', 'image/png', '/home/user/sky.png', NULL, NULL);
INSERT INTO fragments VALUES (1, 'f1', 'A note about clouds.', '2025-06-01T08:00:00', NULL);
INSERT INTO responses VALUES
  ('01old0000000000000000000r1', 'gpt-4o-mini', 'What is this?', 'Be brief.', '{"messages": []}', '{"temperature": 0.5}', 'A cloud.',
   '{"id": "chatcmpl-1"}', '01old00000000000000000000a', 1200, '2025-06-01T08:00:01.500000', 20, 3,
   '{"prompt_tokens_details": {"cached_tokens": 8}}', NULL, 'gpt-4o-mini-2024-07-18'),
  ('01old0000000000000000000r2', 'gpt-4o-mini', 'And the rain?', 'Be brief.', NULL, '{}', '', NULL, '01old00000000000000000000a', 900,
   '2025-06-01T08:01:00', 30, 5, NULL, NULL, NULL),
  ('01old0000000000000000000r3', 'gpt-4o-mini', '', 'Be brief.', NULL, '{}', 'It rains.', NULL, '01old00000000000000000000a', 800,
   '2025-06-01T08:01:02', 40, 2, NULL, NULL, NULL),
  ('01old0000000000000000000r4', 'gpt-4o-mini', 'How is the wind?', NULL, NULL, '{}', 'Strong.', NULL, '01old00000000000000000000b', 700,
   '2025-06-02T08:00:00', 9, 1, NULL, NULL, NULL),
  ('01old0000000000000000000r5', 'gpt-4o-mini', 'Outside of any conversation', NULL, NULL, '{}', 'Alone.', NULL, NULL, 700,
   '2025-06-03T08:00:00', 9, 1, NULL, NULL, NULL);
INSERT INTO prompt_attachments VALUES ('01old0000000000000000000r1', 'aa', 0), ('01old0000000000000000000r1', 'bb', 1);
INSERT INTO prompt_fragments VALUES ('01old0000000000000000000r2', 1, 0);
INSERT INTO tool_calls VALUES (1, '01old0000000000000000000r2', 1, 'look_out', '{"where": "window"}', 'call_1');
INSERT INTO tool_results VALUES (1, '01old0000000000000000000r3', 1, 'look_out', 'rain', 'call_1', NULL, NULL);
