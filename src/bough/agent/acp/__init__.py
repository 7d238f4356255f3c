"""The Agent Client Protocol: editors use an agent of bough, with its history, over stdin and stdout."""
