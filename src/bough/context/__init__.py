"""From a path to a request: load what is needed, repair it, fit it to a budget, encode and validate it."""
