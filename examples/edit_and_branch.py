"""A chat: words ask; `/edit WORDS` asks the last question anew; `/again` answers it anew; `/go N` goes to a branch."""

import sys

import openai

import bough

with bough.connect("chat.db") as store:
    session = store.session("cli:chat")
    for line in map(str.strip, sys.stdin):
        command, _, words = line.partition(" ")
        if command == "/go":
            session.move(session.branches()[int(words)].last.id)
            print("\n".join(f"{node.role}: {node.message.text}" for node in session.path()))
            continue
        if command == "/edit":
            session.rewind()
        with session.answer() if command == "/again" else session.turn(words if command == "/edit" else line) as turn:
            request = turn.context("openai.chat", budget=100_000)
            turn.add(openai.OpenAI().chat.completions.create(model="gpt-5", messages=request.payload))
        for number, branch in enumerate(session.branches()):
            print(number, "*" if branch.is_current else " ", branch.last.words)
