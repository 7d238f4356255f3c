-- goose's sessions.db of schema 16: a compacted session, its subagent, and one whose rows have no names.
CREATE TABLE schema_version (version INTEGER PRIMARY KEY);
INSERT INTO schema_version VALUES (16);
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '', user_set_name BOOLEAN DEFAULT FALSE,
  session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP, extension_data TEXT DEFAULT '{}',
  total_tokens INTEGER, input_tokens INTEGER, output_tokens INTEGER, accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER,
  accumulated_output_tokens INTEGER, accumulated_cost REAL, schedule_id TEXT, recipe_json TEXT, user_recipe_values_json TEXT, provider_name TEXT,
  model_config_json TEXT, goose_mode TEXT NOT NULL DEFAULT 'auto', archived_at TIMESTAMP, project_id TEXT, parent_session_id TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL, role TEXT NOT NULL, content_json TEXT NOT NULL,
  created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP, tokens INTEGER, metadata_json TEXT);
CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, created_timestamp INTEGER NOT NULL, model TEXT,
  input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER, cost REAL);

INSERT INTO sessions (id, name, working_dir, created_at, updated_at, extension_data, provider_name, model_config_json, accumulated_total_tokens) VALUES
  ('20260501_1', 'The shed', '/home/user/shed', '2026-05-01 08:00:00', '2026-05-01 09:00:00', '{"enabled": {"KEY": "not for anyone"}}', 'anthropic', '{"model_name": "claude-sonnet-4-5"}', 500),
  ('20260501_2', 'Paint', '/home/user/shed', '2026-05-01 08:30:00', '2026-05-01 08:31:00', NULL, 'anthropic', '{"model_name": "claude-haiku-4-5"}', NULL),
  ('20260501_3', '', '/home/user', '2026-05-01 10:00:00', '2026-05-01 10:01:00', NULL, NULL, NULL, NULL);
UPDATE sessions SET session_type = 'sub_agent', parent_session_id = '20260501_1' WHERE id = '20260501_2';
UPDATE sessions SET description = 'Without names' WHERE id = '20260501_3';

INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json) VALUES
  ('m1', '20260501_1', 'user', '[{"type":"text","text":"Build a shed."},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}]', 1777622400, '{"userVisible":true,"agentVisible":false}'),
  ('m2', '20260501_1', 'assistant', '[{"type":"thinking","thinking":"Planks first.","signature":"c2ln"},{"type":"text","text":"I need planks."},{"type":"toolRequest","id":"t1","toolCall":{"status":"success","value":{"name":"fetch","arguments":{"what":"planks"}}}},{"type":"toolRequest","id":"t2","toolCall":{"status":"error","error":"no such tool"}}]', 1777622401, '{"userVisible":true,"agentVisible":false}'),
  ('m3', '20260501_1', 'user', '[{"type":"toolResponse","id":"t1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"ten planks"},{"type":"resource","resource":{"uri":"x","text":"a list"}}],"isError":false}}},{"type":"toolResponse","id":"t2","toolResult":{"status":"error","error":"not found"}}]', 1777622402, '{"userVisible":true,"agentVisible":false}'),
  ('m4', '20260501_1', 'assistant', '[{"type":"text","text":"Half of it stands."}]', 1777622402, '{"userVisible":true,"agentVisible":false}'),
  ('m5', '20260501_1', 'user', '[{"type":"text","text":"Summary: half a shed stands."}]', 1777622410, '{"userVisible":false,"agentVisible":true}'),
  ('m6', '20260501_1', 'assistant', '[{"type":"text","text":"I go on from the summary."}]', 1777622411, '{"userVisible":false,"agentVisible":true}'),
  ('m7', '20260501_1', 'user', '[{"type":"text","text":"The roof, please."},{"type":"systemNotification","notificationType":"inlineMessage","msg":"hm"}]', 1777622412, '{"userVisible":true,"agentVisible":true}'),
  ('m8', '20260501_1', 'assistant', '[{"type":"text","text":"It has a roof."}]', 1777622413, '{"userVisible":true,"agentVisible":true}'),
  ('p1', '20260501_2', 'user', '[{"type":"text","text":"Paint the shed."}]', 1777624200, NULL),
  ('p2', '20260501_2', 'assistant', '[{"type":"text","text":"Painted."}]', 1777624201, NULL),
  (NULL, '20260501_3', 'user', '[{"type":"text","text":"Hello?"}]', 1777629600, NULL),
  (NULL, '20260501_3', 'assistant', 'not JSON', 1777629601, NULL),
  (NULL, '20260501_3', 'assistant', '[{"type":"text","text":"Hello."}]', 1777629602, NULL);
INSERT INTO usage_ledger (session_id, created_timestamp, model, input_tokens, output_tokens, cache_read_tokens, cost) VALUES
  ('20260501_1', 1777622401, 'claude-sonnet-4-5', 100, 10, 5, 0.01), ('20260501_1', 1777622405, 'claude-sonnet-4-5', 200, 20, NULL, NULL),
  ('20260501_1', 1777622406, 'claude-haiku-4-5', 50, 5, NULL, NULL), ('20260501_1', 1777622420, 'claude-sonnet-4-5', 300, 30, NULL, NULL);
