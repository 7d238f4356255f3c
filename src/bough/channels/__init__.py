"""Channels: people who talk through Telegram, Discord and the like, with the conversations of a store."""
