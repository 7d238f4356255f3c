"""What only a PostgreSQL server can do, and what it must survive."""
