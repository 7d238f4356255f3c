"""Tests that need a PostgreSQL server."""
