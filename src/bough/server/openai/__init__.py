"""OpenAI's API under `/v1`: Responses, Conversations, Chat Completions and Models."""
