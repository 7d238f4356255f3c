"""History for agents over MCP: the tree as a few tools, resources and prompts, on stdio and on `/mcp`."""
