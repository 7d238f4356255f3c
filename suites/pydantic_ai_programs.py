"""Random programs over conversation stores: `BoughConversationStore` does what Pydantic AI's store in memory does."""

import asyncio
import json
import random

from pydantic_ai import Conversation
from pydantic_ai.conversation_store import InMemoryConversationStore
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart

from bough.adapters.pydantic_ai import BoughConversationStore

PROGRAMS, STEPS = 200, 30
TEXTS = ["oak", "é漢🙂", "", "a\0b", "x" * 5000, "two\nlines"]
NAMES = ["a", "b", "c"]


class Runner:
    """Does steps with a store. Random choices come from a generator that both runners have in the same state."""

    def __init__(self, store):
        self.store = store

    def new(self, choose):
        text = choose.choice(TEXTS)
        made = [ModelRequest(parts=[UserPromptPart(text)])]
        if choose.random() < 0.3:
            made.append(ModelResponse(parts=[ToolCallPart("f", {"n": 1}, tool_call_id="c")]))
            made.append(ModelRequest(parts=[ToolReturnPart("f", "done", tool_call_id="c")]))
        return [*made, ModelResponse(parts=[TextPart(f"answer to {text}")])]

    async def say(self, choose):
        name, scope, new = choose.choice(NAMES), choose.choice([None, "one", "two"]), self.new(choose)
        conversation = await self.store.load(name) or Conversation(conversation_id=name)
        conversation.messages = [*conversation.messages, *new]
        await self.store.save(conversation, scope=scope)

    async def say_twice(self, choose):
        name, new = choose.choice(NAMES), self.new(choose)
        both = [await self.store.load(name) for _ in range(2)]
        for conversation in both if both[0] else ():
            conversation.messages = [*conversation.messages, *new]
            await self.store.save(conversation)

    async def rewrite(self, choose):
        name, keep, new = choose.choice(NAMES), choose.randint(0, 3), self.new(choose)
        if conversation := await self.store.load(name):
            conversation.messages = [*conversation.messages[:keep], *new]
            await self.store.save(conversation)

    async def fork(self, choose):
        name, at, to = choose.choice(NAMES), choose.randint(0, 4), choose.choice(["f", "g"])
        return shape((await self.store.fork(name, at=at, new_conversation_id=to)).messages)

    async def branch(self, choose):
        name, at, stale = choose.choice(NAMES), choose.randint(0, 4), choose.random() < 0.3
        conversation = await self.store.load(name)
        revision = "stale" if stale else conversation and conversation.revision
        return shape((await self.store.branch(name, at=at, expected_revision=revision)).messages)

    async def back(self, choose):
        name, which = choose.choice(NAMES), choose.random()
        record = await self.store.read_record(name)
        if record is None or not record.branches:
            return None
        tip = record.branches[int(which * len(record.branches))]
        return shape((await self.store.branch(name, from_entry=tip, expected_revision=record.revision)).messages)

    async def delete(self, choose):
        await self.store.delete(choose.choice(["a", "f", "nothing"]))

    async def look(self, choose):
        limit, scope = choose.randint(1, 4), choose.choice([None, "one"])
        loaded = await self.store.load(choose.choice(NAMES), limit=limit, scope=scope)
        listed = await self.store.list_conversations(scope=scope, limit=limit)
        return loaded and shape(loaded.messages), [record.conversation_id for record in listed]

    async def state(self):
        """All conversations, with places in the place of ids."""
        found = {}
        for record in await self.store.list_conversations():
            entries = await self.store.load_entries(record.conversation_id)
            chain = [entry.parent_id for entry in entries[1:]] == [entry.id for entry in entries[:-1]]
            ends = (entries[-1].id if entries else None) == record.head_id
            about = record.scope, record.forked_from, len(record.branches), record.forked_at is None
            found[record.conversation_id] = shape([entry.message for entry in entries]), about, chain, ends
        return found


STEPS_OF = ["say"] * 5 + ["say_twice", "rewrite", "fork", "fork", "branch", "branch", "back", "delete", "look"]


def shape(messages):
    """The content of messages, without times."""
    return [(message.kind, [fields(part) for part in message.parts]) for message in messages]


def fields(part):
    wanted = ("part_kind", "content", "args", "tool_name", "tool_call_id")
    return [str(getattr(part, name, None)) for name in wanted]


async def outcome(runner, step, seed):
    try:
        return "gives", await getattr(runner, step)(random.Random(seed))
    except Exception as error:
        return "raises", type(error).__name__


async def program(seed):
    choose = random.Random(seed)
    expected, ours = Runner(InMemoryConversationStore()), Runner(BoughConversationStore(":memory:"))
    for number in range(STEPS):
        step, at = choose.choice(STEPS_OF), choose.random()
        pair = [await outcome(runner, step, at) for runner in (expected, ours)]
        assert pair[0] == pair[1], f"program {seed}, step {number}, {step}: {pair!s:.200}"
        pair = [await runner.state() for runner in (expected, ours)]
        assert pair[0] == pair[1], f"program {seed}, after step {number}, {step}"
    ours.store.close()


failed = []
for seed in range(PROGRAMS):
    try:
        asyncio.run(program(seed))
    except AssertionError as error:
        failed.append(str(error))
print(json.dumps({"passed": PROGRAMS - len(failed), "failed": failed}))
