-- goose's sessions.db of schema 1: fewer columns, and no names for messages.
CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT NOT NULL DEFAULT '', working_dir TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP,
  extension_data TEXT DEFAULT '{}', total_tokens INTEGER);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content_json TEXT NOT NULL,
  created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP, tokens INTEGER);
INSERT INTO sessions VALUES ('20250901_120000', 'The fence', '/home/user/fence', '2025-09-01 12:00:00', '2025-09-01 12:10:00', NULL, 99);
INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES
  ('20250901_120000', 'user', '[{"type":"text","text":"Mend the fence."}]', 1756728000),
  ('20250901_120000', 'assistant', '[{"type":"text","text":"Mended."}]', 1756728001);
