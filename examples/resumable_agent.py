"""An agent with a tool. Killed at any moment and started again without words, it goes on where it was."""

import sys

import openai

import bough

TOOLS = {"measure": lambda tree: f"The {tree} is 4.1 metres around."}
SCHEMA = {"type": "object", "properties": {"tree": {"type": "string"}}, "required": ["tree"]}
tools = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in TOOLS]

with bough.connect("agent.db") as store:
    session = store.session("cli:agent")
    half = next(iter(session.unfinished), None) if len(sys.argv) < 2 else None
    with session.turn(" ".join(sys.argv[1:]), resume=half and half.id) as turn:
        while turn.pending_calls() or turn.path()[-1].role != "assistant":
            for call in turn.pending_calls():
                turn.add(bough.tool_result(call.call_id, TOOLS[call.name](**call.input)))
            request = turn.context("openai.chat", budget=100_000)
            turn.add(openai.OpenAI().chat.completions.create(model="gpt-5", messages=request.payload, tools=tools))
    print(session.path()[-1].message.text)
