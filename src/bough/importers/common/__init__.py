"""Shared by the importers: reading untrusted files, JSON and SQLite; times, ids, titles, order and tree positions."""
