"""`bough serve`: the store over HTTP, as OpenAI's storage API, bough's own API, MCP and a page.

`app.build` makes the ASGI application of a `ServerContext`; `listen.serve` runs it. Every request passes `access.gate`
first, which decides who may do what; then `limits`; then a route of one of the areas.
"""
