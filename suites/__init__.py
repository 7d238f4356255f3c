"""The SDKs' own suites, run against the adapters: `python -m suites [NAME…]`, or `make suites`.

Each SDK has an environment of its own under `$SUITES_CACHE`, by default in `.venv/suites`. The suites are downloaded in
the versions that are pinned here; a pytest plugin puts the adapter in the place of the SDK's own class.
"""
