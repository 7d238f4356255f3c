"""Random programs over session services: `BoughSessionService` does what ADK's service in memory does.

Two sessions that were read at the same time are the exception: the second writer gets an error here.
"""

import asyncio
import json
import random

from google.adk.errors import StaleSessionError
from google.adk.events import Event, EventActions
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types

from bough.adapters.google_adk import BoughSessionService

PROGRAMS, STEPS = 100, 25
IDS, USERS = ["a", "b"], ["one", "two"]
VALUES = [1, "é\0", None, [1, {"deep": True}]]
KEYS = ["own", "app:shared", "user:name", "temp:gone"]


class Runner:
    """Does steps with a service. Random choices come from a generator that both runners have in the same state."""

    def __init__(self, service):
        self.service = service

    async def create(self, choose):
        state = {choose.choice(KEYS[:3]): choose.choice(VALUES)}
        made = await self.service.create_session(
            app_name="x", user_id=choose.choice(USERS), session_id=choose.choice(IDS), state=state
        )
        return made.state

    async def get(self, choose, config=None):
        where = {"user_id": choose.choice(USERS), "session_id": choose.choice(IDS)}
        return await self.service.get_session(app_name="x", **where, config=config)

    async def append(self, choose):
        session, number = await self.get(choose), choose.randrange(10**6)
        parts = choose.choice(
            [
                [types.Part(text=f"words {number}")],
                [types.Part(inline_data=types.Blob(data=b"\0\xff", mime_type="image/png"))],
                [types.Part(function_call=types.FunctionCall(id="c", name="look", args={"at": "sea"}))],
                [types.Part(function_response=types.FunctionResponse(id="c", name="look", response={"is": "calm"}))],
            ]
        )
        delta = {choose.choice(KEYS): choose.choice(VALUES)}
        role = choose.choice(["user", "model"])
        event = Event(
            id=f"event-{number}", author=role, invocation_id="i", timestamp=1e9 + number,
            content=types.Content(role=role, parts=parts), actions=EventActions(state_delta=delta),
        )  # fmt: skip
        if session is not None:
            await self.service.append_event(session, event)
            await self.service.append_event(session, event)  # it was delivered twice
        return session and session.state

    async def recent(self, choose):
        session = await self.get(choose, GetSessionConfig(num_recent_events=choose.randint(0, 3)))
        return session and [event.id for event in session.events]

    async def since(self, choose):
        session = await self.get(choose, GetSessionConfig(after_timestamp=1e9 + choose.randrange(10**6)))
        return session and [event.id for event in session.events]

    async def delete(self, choose):
        where = {"user_id": choose.choice(USERS), "session_id": choose.choice(IDS)}
        await self.service.delete_session(app_name="x", **where)

    async def state(self):
        """Everything, without the times of sessions that have no event."""
        found = {}
        for listed in (await self.service.list_sessions(app_name="x")).sessions:
            where = {"app_name": "x", "user_id": listed.user_id, "session_id": listed.id}
            session = await self.service.get_session(**where)
            events = [event.model_dump_json() for event in session.events]
            found[listed.user_id, listed.id] = session.state, listed.state, events
        return found


STEPS_OF = ["create", "create", "append", "append", "append", "append", "recent", "since", "delete"]


async def outcome(runner, step, seed):
    try:
        return "gives", await getattr(runner, step)(random.Random(seed))
    except Exception as error:
        return "raises", type(error).__name__


async def program(seed):
    choose = random.Random(seed)
    expected, ours = Runner(InMemorySessionService()), Runner(BoughSessionService(":memory:"))
    for number in range(STEPS):
        step, at = choose.choice(STEPS_OF), choose.random()
        pair = [await outcome(runner, step, at) for runner in (expected, ours)]
        assert pair[0] == pair[1], f"program {seed}, step {number}, {step}: {pair!s:.300}"
        pair = [await runner.state() for runner in (expected, ours)]
        assert pair[0] == pair[1], f"program {seed}, after step {number}, {step}: {pair!s:.300}"
    await ours.service.close()


async def stale():
    service = BoughSessionService(":memory:")
    await service.create_session(app_name="x", user_id="one", session_id="a")
    first, second = [await service.get_session(app_name="x", user_id="one", session_id="a") for _ in range(2)]
    await service.append_event(first, Event(author="user", timestamp=2e9))
    try:
        await service.append_event(second, Event(author="user", timestamp=3e9))
    except StaleSessionError:
        session = await service.get_session(app_name="x", user_id="one", session_id="a")
        assert len(session.events) == 1
        return
    raise AssertionError("a stale session was written to")


failed, works = [], [*(program(seed) for seed in range(PROGRAMS)), stale()]
for work in works:
    try:
        asyncio.run(work)
    except AssertionError as error:
        failed.append(str(error))
print(json.dumps({"passed": len(works) - len(failed), "failed": failed}))
