"""Properties of Claude Code's files: replies in pieces, answers on branches, files that replay one another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bough
from bough import Store
from bough.importers import get
from bough.model import Media, Other, Text, Thinking, ToolCall, Usage
from tests.importers.helpers import ReadConversation, import_path, read_path
from tests.importers.sample import FILES
from tests.importers.samples.claude_code import FORK, PROJECT, REMAPPED, SESSION

PATH = FILES / "claude-code"


@pytest.fixture(scope="module")
def conversations() -> dict[str, ReadConversation]:
    return read_path(PATH)


@pytest.fixture
def session(conversations: dict[str, ReadConversation]) -> ReadConversation:
    return conversations[SESSION]


def project(place: Path, *lines: object, name: str = "s") -> Path:
    path = place / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def user(uuid: str, parent: str | None, text: str) -> dict[str, object]:
    message = {"role": "user", "content": text}
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message}


def test_a_reply_in_several_lines_is_one_message_with_its_largest_count(session: ReadConversation) -> None:
    reply = session.messages["a1"]
    assert [type(block) for block in reply.message.blocks] == [Thinking, Text, ToolCall, ToolCall]
    assert reply.usage == Usage(153, 631, 50)
    assert (reply.model, reply.provider, reply.request_id) == ("claude-sonnet-4-5", "anthropic", "req_01")


def test_results_of_calls_that_were_made_together_follow_one_another(session: ReadConversation) -> None:
    assert [session.messages[name].parent for name in ("r1", "r2", "a5")] == ["a1", "r1", "r2"]


def test_results_that_came_while_the_reply_was_still_being_written_stay_on_the_path(tmp_path: Path) -> None:
    def said(uuid: str, parent: str, kind: str, block: object) -> dict[str, object]:
        message = {"role": kind, "content": [block], **({"id": "msg_1"} if kind == "assistant" else {})}
        return {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message}

    def call(name: str) -> dict[str, object]:
        return {"type": "tool_use", "id": name, "name": "Read", "input": {}}

    def result(name: str) -> dict[str, object]:
        return {"type": "tool_result", "tool_use_id": name, "content": name}

    lines = [
        user("u", None, "Read both"),
        said("a1", "u", "assistant", call("c1")),
        said("r1", "a1", "user", result("c1")),
        said("a2", "a1", "assistant", call("c2")),
        said("r2", "a2", "user", result("c2")),
        {**user("u2", "r2", "Thanks"), "timestamp": "2025-01-01T00:00:00Z"},
    ]
    conversations = read_path(project(tmp_path, *lines))["s"].messages
    assert [said.parent for said in conversations.values()] == [None, "u", "a1", "r1", "a2", "r2"]


def test_images_structured_results_and_what_bough_does_not_know_are_kept(session: ReadConversation) -> None:
    (result,) = session.messages["r2"].message.results
    text, image, other = result.content
    assert isinstance(text, Text)
    assert isinstance(image, Media)
    assert (image.mime, image.data and image.data[:4]) == ("image/png", b"\x89PNG")
    assert isinstance(other, Other)
    assert session.messages["r1"].message.envelope["claude-code"]["toolUseResult"]["file"]["content"] == "north: dry"
    (note,) = session.messages["m1"].message.blocks
    assert isinstance(note, Other)
    assert (note.type, note.raw["claude-code"]["phase"]) == ("moon-phase", "full")


def test_the_scene_is_kept_where_it_changes(session: ReadConversation) -> None:
    scenes = [said.message.envelope for said in session.messages.values() if said.message.envelope]
    assert [scene["claude-code"].get("cwd") for scene in scenes if "cwd" in scene["claude-code"]] == [
        "/home/user/garden"
    ]


def test_only_what_a_human_said_begins_a_turn(session: ReadConversation) -> None:
    turns = dict.fromkeys(said.turn for said in session.messages.values())
    assert list(turns) == ["meta1", "u2", "u2b", "u3", "u4", "u5"]


def test_a_compaction_is_a_summary_of_what_was_before(session: ReadConversation) -> None:
    summary = session.messages["cs1"]
    assert (summary.kind, summary.covers, summary.parent) == ("summary", "a10", "a10")
    assert summary.message.envelope["claude-code"]["compactMetadata"]["trigger"] == "auto"


def test_what_a_compaction_keeps_as_it_was_is_not_covered_by_its_summary(tmp_path: Path) -> None:
    kept = {"preservedSegment": {"headUuid": "c", "anchorUuid": "sum", "tailUuid": "c"}}
    boundary = {**user("cb", None, ""), "type": "system", "subtype": "compact_boundary", "compactMetadata": kept}
    summary = {**user("sum", "cb", "We spoke."), "isCompactSummary": True}
    lines = [user("a", None, "one"), user("b", "a", "two"), user("c", "b", "three"), user("d", "c", "four")]
    conversations = read_path(project(tmp_path, *lines, {**boundary, "logicalParentUuid": "d"}, summary))["s"].messages[
        "sum"
    ]
    assert (conversations.kind, conversations.parent, conversations.covers) == ("summary", "d", "b")


def test_what_claude_code_says_in_the_models_place_is_an_error_of_no_model(session: ReadConversation) -> None:
    failed = session.messages["a9"]
    assert failed.message.error
    assert failed.model is None


def test_subagents_know_who_asked_for_them(conversations: dict[str, ReadConversation]) -> None:
    links = {
        name: (one.conversation.parent, one.conversation.parent_message, one.conversation.parent_call)
        for name, one in conversations.items()
        if one.conversation.parent
    }
    assert links == {
        f"{SESSION}:sc1": (SESSION, "a7", "toolu_3"),
        f"{SESSION}:a1b2c3d4": (SESSION, "a11", "toolu_4"),
        f"{SESSION}:e5f6": (f"{SESSION}:a1b2c3d4", "ag2", "toolu_5"),
        "gone:0ld": ("gone", None, None),
    }
    agents = [conversations[f"{SESSION}:{name}"].conversation.agent for name in ("sc1", "a1b2c3d4", "e5f6")]
    assert agents == ["gardener", "general-purpose", "fetcher"]


def test_a_subagent_whose_file_is_given_alone_comes_with_its_session(
    conversations: dict[str, ReadConversation],
) -> None:
    (path,) = PATH.rglob("agent-e5f6.jsonl")
    alone = read_path(path)
    assert alone[f"{SESSION}:e5f6"].conversation.parent_message == "ag2"
    assert set(alone) == {name for name in conversations if name.startswith(SESSION)}


def test_the_agent_is_the_one_that_was_set_and_not_the_name_of_the_session(
    conversations: dict[str, ReadConversation],
) -> None:
    assert conversations[FORK].conversation.agent == "forecaster"


def test_titles_are_the_users_then_the_programs_then_the_first_prompt(
    conversations: dict[str, ReadConversation],
) -> None:
    titles = {name: one.conversation.title for name, one in conversations.items()}
    assert titles[SESSION] == "The garden"
    assert titles[FORK] == "Rain tomorrow"
    assert titles[REMAPPED] == "Which beds need water?"
    assert titles[f"{SESSION}:a1b2c3d4"] == "Pull weeds"


def test_what_an_editor_put_before_the_prompt_is_no_part_of_the_title(tmp_path: Path) -> None:
    words = "<ide_opened_file>The user opened a.py.</ide_opened_file>\nMend it."
    assert read_path(project(tmp_path, user("a", None, words)))["s"].conversation.title == "Mend it."


def test_tokens_are_counted_once_where_files_replay_one_another(tmp_path: Path) -> None:
    spent = sum(
        said.usage.output_tokens or 0
        for one in read_path(PATH).values()
        for said in one.messages.values()
        if said.usage
    )
    assert spent == 631 + 12 + 9 + 40 + 15 + 14 + 8 + 30 + 7 + 5 + 6 + 3 + 4 + 4 + 2
    with bough.connect(tmp_path / "bough.db") as store:
        for one in get("claude-code").read(PATH):
            store.bring_in(one)  # type: ignore[arg-type]
        assert store.usage()[0].usage.output_tokens == spent


def test_circles_and_lines_that_are_their_own_parents_become_paths(tmp_path: Path) -> None:
    lines = [user("a", "c", "one"), user("b", "a", "two"), user("c", "b", "three"), user("d", "d", "four")]
    conversations = read_path(project(tmp_path, *lines))["s"].messages
    assert [(name, said.parent) for name, said in conversations.items()] == [
        ("a", None),
        ("b", "a"),
        ("c", "b"),
        ("d", "c"),
    ]


def test_a_file_may_continue_another_one(tmp_path: Path) -> None:
    first = {**user("a", None, "one"), "timestamp": "2025-01-01T00:00:00Z"}
    second = {**user("b", "a", "two"), "timestamp": "2025-01-02T00:00:00Z"}
    project(tmp_path, first, name="1")
    project(tmp_path, second, name="0")
    assert read_path(tmp_path)["0"].messages["b"].parent == "a"


def test_a_line_without_a_name_is_called_by_its_place(tmp_path: Path) -> None:
    line = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "hello"}}
    conversations = read_path(project(tmp_path, line, line))["s"].messages
    assert [(name, said.parent) for name, said in conversations.items()] == [("s:1", None), ("s:2", "s:1")]


def test_the_directory_of_one_project_is_recognised_too() -> None:
    assert set(read_path(PATH / PROJECT)) == set(read_path(PATH))


def test_places_follow_the_programs_own_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert get("claude-code").default_paths() == []
    (tmp_path / "projects").mkdir()
    assert get("claude-code").default_paths() == [tmp_path / "projects"]


def test_a_reply_with_results_between_its_lines_has_its_final_tokens(store: Store, tmp_path: Path) -> None:
    def reply(uuid: str, parent: str, id: str, block: object, tokens: int) -> dict[str, object]:
        usage = {"input_tokens": 5, "output_tokens": tokens}
        message = {"id": id, "role": "assistant", "model": "m", "content": [block], "usage": usage}
        return {"type": "assistant", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message}

    def result(uuid: str, parent: str, call: str) -> dict[str, object]:
        content = [{"type": "tool_result", "tool_use_id": call, "content": "ok"}]
        message = {"role": "user", "content": content}
        return {"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message}

    def call(id: str) -> dict[str, object]:
        return {"type": "tool_use", "id": id, "name": "Read", "input": {}}

    lines = [
        user("u1", None, "hi"), reply("a1", "u1", "msg_1", call("t1"), 8), result("r1", "a1", "t1"),
        reply("a2", "r1", "msg_1", call("t2"), 572), result("r2", "a2", "t2"),
        reply("a3", "r2", "msg_2", {"type": "text", "text": "done"}, 3),
    ]  # fmt: skip
    import_path(store, project(tmp_path, *lines))
    (total,) = store.usage()
    assert (total.usage.output_tokens, total.usage.input_tokens) == (575, 10)
    (turn,) = store.turns()
    assert turn.context_tokens == 8
    import_path(store, project(tmp_path, *[{**line, "sessionId": "fork"} for line in lines], name="fork"))
    assert store.usage() == [total]
