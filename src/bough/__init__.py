"""Every conversation with an AI, kept; any point of it, a place to start again."""
