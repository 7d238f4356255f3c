"""A store with everything that the page shows: branches, tools, pictures, a subagent, a broken turn, a deletion."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import bough
from bough import Media, Store, Usage, assistant, tool_call, tool_result, user
from bough.model import Thinking
from tests.exporters.conftest import PIXEL

EVIL = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
REPLY = "Fixed: from **5 to 6**.\n\n```python\nSTART = 5  # dawn\n```\n\n| when | now |\n|---|---|\n| start | 5:00 |"


def build(path: Path) -> None:
    """Fill a new store."""
    with bough.connect(path) as store:
        forks(store)
        pictures(store)
        hostile(store)
        broken(store)
        store.index()


def forks(store: Store) -> None:
    pump = store.session("claude-code:pump", directory="/home/me/garden", title="Fix the watering schedule")
    pump.save_turn([
        user("The pump runs at noon. It should run at dawn."),
        assistant(Thinking("Where is it?"), "I look first.", tool_call("c1", "Bash", {"command": "cat plan.py"})),
        tool_result("c1", "START = 12"),
        assistant(tool_call("c2", "Edit", {"path": "plan.py", "old_string": "START = 12", "new_string": "START = 5"})),
        tool_result("c2", "changed"),
        assistant(REPLY),
    ], model="sonnet", usage=Usage(18_000, 900, 15_000, None, 0.04))  # fmt: skip
    fork = store.fork(pump.head or "", "claude-code:log", title="Log every run")
    fork.save_turn([user("Log every quokka run."), assistant("Logged to runs.log.")], model="haiku")
    pump.save_turn([user("Use the forecast."), assistant("The forecast of numbat.example is used.")], model="sonnet")
    scout = pump.delegate("scout")
    scout.save_turn([user("Find the callers."), assistant("Two: pump.py and test_pump.py.")], model="haiku")


def pictures(store: Store) -> None:
    oak = store.session("cli:oak", directory="/home/me/garden", title="How old is the oak?")
    picture = Media("image", "image/png", data=PIXEL, name="oak.png")
    oak.save_turn([user("How old is the oak?", picture), assistant("About 210 years.")], model="gpt-5")
    with oak.answer(model="opus") as turn:
        turn.add(assistant("About 190 years."))


def hostile(store: Store) -> None:
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>top.document.title='taken'</script></svg>"
    evil = store.session("cli:evil", title=f"</title>{EVIL}", directory=f"/x/{EVIL}")
    evil.save_turn([
        user(EVIL, "[click](javascript:document.title='taken') ![spy](https://example.org/spy.png)",
             Media("image", "image/svg+xml", data=svg, name='"><script>document.title="taken"</script>'),
             Media("document", "text/html", data=EVIL.encode(), name="x.html"),
             Media("image", "image/png", url="javascript:document.title='taken'")),
        assistant(EVIL, tool_call('"><script>', EVIL, {"a": EVIL, "command": EVIL})),
        tool_result('"><script>', EVIL),
        assistant(f"```{EVIL}\n{EVIL}\n```\n</script>\0\ud800\u202e\x1b[31m" + "x" * 100_000),
    ], model=f'm"{EVIL}')  # fmt: skip
    store.label(evil.head or "", EVIL)


def broken(store: Store) -> None:
    with suppress(RuntimeError), store.session("cli:default").turn("Summarise my notes", model="gpt-5") as turn:
        turn.sketch("This week you wrote ")
        raise RuntimeError("The connection was lost.")
    old = store.session("cli:old", title="An old one")
    old.save_turn([user("Delete me"), assistant("As you like.")])
    store.delete_session("cli:old")
