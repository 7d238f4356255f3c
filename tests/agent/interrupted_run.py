"""A process that runs one turn with a model that stalls, to be interrupted from outside.

    python -m tests.agent.interrupted_run DB stream|tool

`stream`: the model streams a few words, then stalls. `tool`: it calls a tool that does not return. The process writes
a line to stdout when that point is reached.
"""

from __future__ import annotations

import sys
import threading

import bough
from bough import tool_call
from bough.agent import Agent, Call, Event, run, tool
from bough.providers.types import Piece
from tests.agent.fake_provider import FakeProvider, FakeReply


def main(place: str, what: str) -> None:
    never = threading.Event()

    def stall(at: int) -> None:
        if at == 3:
            never.wait()

    def say(event: Event) -> None:
        if isinstance(event, Piece):
            print(event.text.strip(), flush=True)

    def quick() -> str:
        return "quick"

    def saw(call: Call) -> str:
        print("sawing", flush=True)
        call.stop.wait()
        print("saw stopped", flush=True)
        return "never seen"

    calls = (tool_call("c1", "quick"), tool_call("c2", "saw"))
    line = FakeReply("one two three four", before=stall) if what == "stream" else FakeReply("", calls)
    with bough.connect(place) as store:
        try:
            run(
                Agent(FakeProvider(line), tools=[tool(quick), tool(saw)]),
                store.session("cli:default"),
                "go",
                listener=say,
            )
        except KeyboardInterrupt:
            print("interrupted", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
