"""The browser, driven by Textual's pilot on a real store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.worker import WorkerCancelled

import bough
from bough import assistant, user
from bough.cli.browser.app import Browser
from bough.cli.browser.picked import Picked
from bough.cli.browser.prompts import PageScreen
from tests.cli.history import fill

Script = Callable[[Browser, "Pilot[Picked]"], Awaitable[None]]


@pytest.fixture
def store(tmp_path: Path) -> bough.Store:
    path = tmp_path / "chats.db"
    fill(path)
    return bough.connect(path)


def ids_of(store: bough.Store) -> dict[str, str]:
    """The ids of the messages by their texts."""
    return {node.message.text: node.id for node in store.list_messages()}


def browse(
    store: bough.Store, script: Script, *, size: tuple[int, int] = (140, 40), at: str | None = None
) -> Picked | None:
    """Run the browser with a script of keys; what was picked."""

    async def go() -> Picked | None:
        app = Browser(store, str(Path.home()), at=at)
        async with app.run_test(size=size) as pilot:
            await settle(app, pilot)
            await script(app, pilot)
        return app.return_value

    with store:
        return asyncio.run(go())


async def settle(app: Browser, pilot: Pilot[Picked]) -> None:
    """Wait until the panes have followed the cursor."""
    for _ in range(3):
        await pilot.pause(0.08)
        with suppress(WorkerCancelled):  # of a pane that was asked for something else meanwhile
            await app.workers.wait_for_complete()
    await pilot.pause()


async def answer(app: Browser, pilot: Pilot[Picked], key: str, *keys: str) -> None:
    """Press a key that asks something, and answer once the question is there."""
    await pilot.press(key)
    while len(app.screen_stack) == 1:
        await pilot.pause(0.02)
    await pilot.press(*keys)
    await settle(app, pilot)


def words(app: Browser) -> list[str]:
    """The first words of the tree's rows."""
    return [line.node.words for line in app.tree_pane.lines]


def screen(app: Browser) -> str:
    """The text on the screen."""
    width = app.size.width
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text[:width] for strip in strips)


def test_it_opens_on_this_directory_and_shows_list_tree_and_dialog(store: bough.Store) -> None:
    async def script(app: Browser, pilot: Pilot[Picked]) -> None:
        assert app.list_pane.scope.name == "here"
        shown = screen(app)
        assert "Planting oaks" in shown
        assert "How far apart do I plant oaks?" in shown
        assert "├── › And ash trees?" in shown
        assert "Five metres." in shown
        await pilot.press("s")
        await settle(app, pilot)
        assert app.list_pane.scope.name == "all"
        assert "telegram:42" in screen(app)
        await pilot.press("s", "s", "s")
        await settle(app, pilot)
        assert app.list_pane.scope.name == "telegram"
        assert "\x1b" not in screen(app)

    assert browse(store, script) is None


def test_words_are_searched_as_they_are_typed_and_shown_in_place(store: bough.Store) -> None:
    async def script(app: Browser, pilot: Pilot[Picked]) -> None:
        await pilot.press("s", "slash", *"hornbeam")
        await settle(app, pilot)
        assert [row.found for row in app.list_pane.rows] == ["Take hornbeam."]
        assert "Take hornbeam." in screen(app)
        await pilot.press("enter")
        await settle(app, pilot)
        assert words(app)[app.tree_pane.place] == "Take hornbeam."
        await pilot.press("escape")
        await settle(app, pilot)
        assert len(app.list_pane.rows) > 1
        await pilot.press("slash", *"zzyzx")
        await settle(app, pilot)
        assert app.list_pane.rows == []

    browse(store, script)


def test_branches_fold_and_subagents_are_folded_with_their_count(store: bough.Store) -> None:
    async def script(app: Browser, pilot: Pilot[Picked]) -> None:
        await pilot.press("j", "l")
        await settle(app, pilot)
        assert "⚙ 1" in screen(app)
        before = len(app.tree_pane.lines)
        await pilot.press("G")
        while app.tree_pane.lines[app.tree_pane.place].runs == 0:
            await pilot.press("k")
        await pilot.press("space")
        await settle(app, pilot)
        assert any("Review the plan" in line for line in words(app))
        await pilot.press("g", "space")
        await settle(app, pilot)
        assert len(app.tree_pane.lines) == 1
        assert "▸" in screen(app)
        await pilot.press("l")
        await settle(app, pilot)
        assert len(app.tree_pane.lines) >= before
        await pilot.press("m")
        await settle(app, pilot)
        assert {line.node.role for line in app.tree_pane.lines} <= {"user", "assistant"}
        assert "Twelve metres. - **crowns** touch" not in words(app)

    browse(store, script)


@pytest.mark.parametrize(
    ("keys", "picked"),
    [
        (("enter",), ("open", "Five metres.")),
        (("l", "enter"), ("continue", "Five metres.")),
        (("l", "k", "e"), ("edit", "Birches 🌳 then")),
        (("l", "f"), ("fork", "Five metres.")),
        (("l", "a"), ("regenerate", "Five metres.")),
        (("o",), ("page", "Five metres.")),
    ],
)
def test_keys_pick_what_to_do_and_where(store: bough.Store, keys: tuple[str, ...], picked: tuple[str, str]) -> None:
    known = ids_of(store)

    async def script(app: Browser, pilot: Pilot[Picked]) -> None:
        for key in keys:
            await pilot.press(key)
            await settle(app, pilot)

    assert browse(store, script) == Picked(picked[0], "cli:birches", known[picked[1]])  # type: ignore[arg-type]


def test_another_model_is_asked_for(store: bough.Store) -> None:
    async def script(app: Browser, pilot: Pilot[Picked]) -> None:
        await pilot.press("l")
        await answer(app, pilot, "A", *"local", "enter")

    picked = browse(store, script)
    assert picked is not None
    assert (picked.verb, picked.model) == ("regenerate", "local")


def test_rename_label_pin_delete_and_undo_change_the_store(store: bough.Store) -> None:
    async def script(app: Browser, pilot: Pilot[Picked]) -> None:
        await answer(app, pilot, "r", "ctrl+a", "ctrl+k", *"Birch", "enter")
        assert store.session("cli:birches").info.title == "Birch"
        assert "Birch" in screen(app)
        await pilot.press("p")
        await settle(app, pilot)
        assert store.session("cli:birches").info.pinned_at
        await pilot.press("l")
        await settle(app, pilot)
        await answer(app, pilot, "number_sign", *"good", "enter")
        assert "#good Five" in screen(app)
        before = store.size().messages
        await answer(app, pilot, "d", "n")
        assert store.size().messages == before
        await answer(app, pilot, "d", "y")
        assert store.size().messages == before - 1
        await pilot.press("u")
        await settle(app, pilot)
        assert store.size().messages == before
        await pilot.press("escape")
        await settle(app, pilot)
        await answer(app, pilot, "d", "y")
        assert store.find_session("cli:birches") is None
        await pilot.press("u")
        await settle(app, pilot)
        assert store.find_session("cli:birches") is not None

    browse(store, script)


def test_two_branches_are_compared_side_by_side(store: bough.Store) -> None:
    async def script(app: Browser, pilot: Pilot[Picked]) -> None:
        await pilot.press("l", "equals_sign", "k", "k", "equals_sign")
        await settle(app, pilot)
        assert [type(one) for one in app.screen_stack[1:]] == [PageScreen]
        shown = screen(app)
        assert "Five metres." in shown
        assert "Take hornbeam." in shown
        await pilot.press("q")
        assert len(app.screen_stack) == 1
        await pilot.press("question_mark")
        assert "answer again with another model" in screen(app)

    browse(store, script)


def test_messages_and_their_code_are_copied_and_dialogs_exported(store: bough.Store, tmp_path: Path) -> None:
    store.session("cli:garden", directory=str(Path.home())).save_turn(
        [user("code?"), assistant("So\n```\nls -l\n```\n")]
    )

    async def script(app: Browser, pilot: Pilot[Picked]) -> None:
        await pilot.press("y")
        assert app.clipboard == "So\n```\nls -l\n```\n"
        await pilot.press("Y")
        assert app.clipboard == "ls -l\n"
        await answer(app, pilot, "x", "ctrl+a", "ctrl+k", *str(tmp_path / "out.html"), "enter")
        await answer(app, pilot, "x", "ctrl+a", "ctrl+k", *str(tmp_path / "out.pdf"), "enter")
        assert "No format is written as .pdf" in screen(app)

    browse(store, script)
    assert "<html" in (tmp_path / "out.html").read_text()
    assert not (tmp_path / "out.pdf").exists()


@pytest.mark.parametrize("size", [(40, 20), (80, 24), (20, 8)])
def test_a_narrow_terminal_shows_one_pane_after_another(store: bough.Store, size: tuple[int, int]) -> None:
    async def script(app: Browser, pilot: Pilot[Picked]) -> None:
        assert "Planting oaks" in screen(app)
        app._soon("tree", app.load_tree)  # is not lost when another pane moves
        for key, pane in (("l", "tree"), ("l", "dialog"), ("h", "tree"), ("h", "conversations")):
            await pilot.press(key)
            await settle(app, pilot)
            assert app.pane == pane
            assert app.query_one(f"#{pane}").has_focus
            if pane == "tree" and size[0] >= 40:
                assert "And ash trees?" in screen(app)
        assert all(len(line) <= size[0] for line in screen(app).splitlines())

    browse(store, script, size=size)


def test_an_empty_store_says_how_to_begin(tmp_path: Path) -> None:
    async def script(app: Browser, pilot: Pilot[Picked]) -> None:
        assert "Nothing is stored yet" in screen(app)
        await pilot.press("enter", "d", "y", "r", "equals_sign", "x", "n")

    assert browse(bough.connect(tmp_path / "empty.db"), script) == Picked("new")


def test_lists_and_dialogs_are_read_in_windows(tmp_path: Path) -> None:
    store = bough.connect(tmp_path / "many.db")
    for number in range(250):
        store.session(f"cli:talk{number}").append([user(f"question {number}")])
    long = store.session("cli:long")
    long.record([message for number in range(100) for message in (user(f"q{number}"), assistant(f"a{number}"))])

    async def script(app: Browser, pilot: Pilot[Picked]) -> None:
        assert len(app.list_pane.rows) == 100
        await pilot.press("G")
        await settle(app, pilot)
        assert len(app.list_pane.rows) == 200
        await pilot.press("g")
        await settle(app, pilot)
        assert app.dialog_pane.dialog is not None
        assert len(app.dialog_pane.dialog.nodes) == 30
        await pilot.press("l", "l", "g", "k")
        await settle(app, pilot)
        assert len(app.dialog_pane.dialog.nodes) == 60

    browse(store, script)
