"""The agents of the configuration, with their models, tools and MCP servers, for the command line and the server."""
