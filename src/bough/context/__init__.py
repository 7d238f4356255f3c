"""From a path to a request: load the needed part, fit it to a budget, repair, encode and validate it."""
