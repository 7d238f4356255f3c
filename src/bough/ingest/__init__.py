"""Import of conversations from elsewhere: match stored messages, store new ones as nodes, turns and sessions.

bring_in          the loop: one transaction per batch, and a last one that updates the sessions
batches           cuts items into batches; `Ingestion`, the steps that a batch goes through
conversation      `ConversationIngestion`: another program's conversation
    matching      is a message stored under another id, or with fewer blocks
    turns         which turn a message belongs to
    sessions      the heads of the sessions afterwards
archive           `ArchiveIngestion`: bough's own export, with its ids
"""
