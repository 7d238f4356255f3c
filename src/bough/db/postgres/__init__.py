"""PostgreSQL, through psycopg: many writers and many namespaces, on one machine or many."""
