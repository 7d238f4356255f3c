"""From the words of a command line to a running turn, for `run` and `chat`."""
