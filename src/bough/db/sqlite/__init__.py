"""SQLite, through apsw: one file, durable across power loss, shared by many processes."""
