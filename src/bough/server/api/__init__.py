"""`/api/v1`: the tree, turns and live events for any program."""
