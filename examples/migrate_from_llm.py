"""Brings the history of llm, or of any program that `bough import` knows, into a store: `FILE… STORE`."""

import sys
from pathlib import Path

import bough
from bough.importers import detect
from bough.model.imported import Conversation

with bough.connect(sys.argv[-1]) as store:
    for file in map(Path, sys.argv[1:-1]):
        for item in detect(file).read(file):
            if isinstance(item, Conversation):
                store.bring_in(item)  # again as often as you like: only what is new is added
    for info in store.sessions():
        print(info.key, "|", info.title, "|", len(store.session(info.key).path()), "messages")
