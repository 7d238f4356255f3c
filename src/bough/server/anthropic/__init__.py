"""Anthropic's API under `/v1/messages`."""
