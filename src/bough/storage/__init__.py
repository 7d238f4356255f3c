"""The insides of the store's verbs. Each function runs in a transaction that the store holds."""
