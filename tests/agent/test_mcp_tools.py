"""Tools of real MCP servers, over stdio and HTTP, in the loop."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from bough import Media, Session, Text, ToolResult, tool_call
from bough.agent import Agent, Limits, Stop, run
from bough.agent.mcp import Server, Servers, line_limit, results
from bough.errors import ToolError
from bough.model.values import replace
from tests.agent.fake_provider import FakeProvider, FakeReply
from tests.ports import answers, free_port

SCRIPT = str(Path(__file__).with_name("mcp_server.py"))
COMMAND = (sys.executable, SCRIPT)
OLD = (sys.executable, str(Path(__file__).with_name("old_mcp_server.py")))


@pytest.fixture(scope="module")
def forest() -> Iterator[Servers]:
    """One server over stdio, for the tests that leave it as it is."""
    with Servers([Server("forest", COMMAND, {"SEASON": "autumn"}, os.path.dirname(SCRIPT), seconds=60)]) as servers:
        yield servers


@pytest.fixture(scope="module")
def stuck() -> Iterator[Servers]:
    """A server for the tests that leave it hanging."""
    with Servers([Server("forest", COMMAND)]) as servers:
        yield servers


def ask(session: Session, servers: Servers, name: str, arguments: object, **limits: float) -> ToolResult:
    """Lets the model call one tool; what came of it."""
    provider = FakeProvider(FakeReply("", (tool_call("c1", name, arguments),)), "I see.")
    done = run(Agent(provider, tools=[servers], limits=Limits(**limits)), session, "go")  # type: ignore[arg-type]
    assert (done.status, done.text) == ("complete", "I see.")
    return next(result for node in session.path() for result in node.message.results)


def names(servers: Servers) -> list[str]:
    return [bound.tool.name for bound in servers.tools()]


def test_the_tools_of_a_server_are_offered_under_its_name_with_their_schemas(forest: Servers) -> None:
    shown = {bound.tool.name: bound.tool for bound in forest.tools()}
    assert shown["forest__girth"].description == "How far it is around a tree."
    assert shown["forest__girth"].parameters["properties"]["tree"]["type"] == "string"
    assert {bound.seconds for bound in forest.tools()} == {60}


def test_a_tool_of_a_server_is_used_by_the_loop(forest: Servers, session: Session) -> None:
    result = ask(session, forest, "forest__girth", {"tree": "oak"})
    assert (result.text, result.error, result.name) == ("oak: 4.1 m", False, "forest__girth")


def test_images_resources_and_links_become_blocks(forest: Servers, session: Session) -> None:
    result = ask(session, forest, "forest__many", {})
    text, image, leaf, pdf, link = result.content
    assert text == Text("see")
    assert image == Media("image", "image/png", data=b"\x89PNG")
    assert isinstance(leaf, Text)
    assert (leaf.text, leaf.extra["mcp"]["uri"]) == ("leaf", "file:///a.txt")
    assert pdf == Media("document", "application/pdf", data=b"%PDF", name="file:///a.pdf")
    assert isinstance(link, Text)
    assert link.text == "map <file:///map>: Where it stands"


def test_a_tool_that_fails_is_a_tool_error(forest: Servers, session: Session) -> None:
    result = ask(session, forest, "forest__blunt", {})
    assert result.error
    assert "the saw is blunt" in result.text


def test_arguments_that_a_server_refuses_are_a_tool_error(forest: Servers, session: Session) -> None:
    result = ask(session, forest, "forest__girth", {"bush": "box"})
    assert result.error
    assert "tree" in result.text


def test_a_server_process_gets_its_environment_and_directory(forest: Servers, session: Session) -> None:
    result = ask(session, forest, "forest__surroundings", {"name": "SEASON"})
    assert result.extra["mcp"]["structuredContent"] == {"value": "autumn", "directory": os.path.dirname(SCRIPT)}


def test_the_caller_is_sent_only_to_bough_servers(forest: Servers, session: Session) -> None:
    assert ask(session, forest, "forest__told", {}).text == "nothing"


def test_calls_to_one_server_run_in_parallel(forest: Servers, session: Session) -> None:
    calls = tuple(tool_call(f"c{tree}", "forest__girth", {"tree": tree}) for tree in ("oak", "elm", "ash"))
    run(Agent(FakeProvider(FakeReply("", calls), "done"), tools=[forest]), session, "go")
    assert [one.text for node in session.path() for one in node.message.results] == [
        "oak: 4.1 m", "elm: 4.1 m", "ash: 4.1 m",
    ]  # fmt: skip


def test_only_the_selected_tools_are_offered(forest: Servers) -> None:
    some = forest.tools(["forest.girth", "forest.blunt", "desert"])
    assert [one.tool.name for one in some] == ["forest__girth", "forest__blunt"]
    assert len(forest.tools(["forest"])) == len(forest.tools())
    assert forest.tools([]) == []


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_tool_added_later_is_offered_in_the_next_request(forest: Servers, session: Session) -> None:
    ask(session, forest, "forest__plant", {"name": "birch"})
    deadline = time.monotonic() + 30
    while "forest__birch" not in names(forest):
        assert time.monotonic() < deadline
    session.clear()
    assert ask(session, forest, "forest__birch", {}).text == "I am birch"


def test_a_crashed_server_is_a_tool_error_with_its_stderr_and_is_restarted_for_the_next_call(
    session: Session, tmp_path: Path
) -> None:
    die, measure = tool_call("c1", "forest__die"), tool_call("c2", "forest__girth", {"tree": "oak"})
    provider = FakeProvider(
        FakeReply("", (die,)), FakeReply("", (measure, replace(measure, call_id="c3"))), "It is back."
    )
    with Servers([Server("forest", COMMAND, {"PROCESS": str(tmp_path / "process")})]) as servers:
        first = int((tmp_path / "process").read_text())
        done = run(Agent(provider, tools=[servers]), session, "go")
        second = int((tmp_path / "process").read_text())
        assert (is_running(first), is_running(second)) == (False, True)
    assert not is_running(second)
    died, *after = [one for node in session.path() for one in node.message.results]
    assert died.error
    assert "'forest' has ended" in died.text
    assert "the next call starts it again" in died.text
    assert "a branch fell on me" in died.text
    assert [(one.error, one.text) for one in after] == [(False, "oak: 4.1 m")] * 2
    assert done.text == "It is back."


def test_a_server_that_crashes_at_once_is_not_restarted_for_a_while(session: Session, tmp_path: Path) -> None:
    lines = [FakeReply("", (tool_call(f"c{number}", "forest__die"),)) for number in range(3)]
    with Servers([Server("forest", COMMAND, {"PROCESS": str(tmp_path / "process")})]) as servers:
        done = run(Agent(FakeProvider(*lines, "I give up."), tools=[servers]), session, "go")
    *_, refused = [one for node in session.path() for one in node.message.results]
    assert refused.error
    assert "'forest' is gone again; call it in" in refused.text
    assert done.text == "I give up."


def test_the_error_of_a_failed_restart_contains_the_reason(session: Session, tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text(Path(SCRIPT).read_text())
    lines = (
        FakeReply("", (tool_call("c1", "forest__die"),)),
        FakeReply("", (tool_call("c2", "forest__die"),)),
        "It is gone.",
    )
    with Servers([Server("forest", (sys.executable, str(program)))]) as servers:
        program.write_text("import sys; sys.exit('felled')")
        run(Agent(FakeProvider(*lines), tools=[servers]), session, "go")
    assert "felled" in [one.text for node in session.path() for one in node.message.results][-1]


def test_a_call_that_times_out_leaves_the_server_usable(stuck: Servers, session: Session, tmp_path: Path) -> None:
    hung = ask(session, stuck, "forest__hang", {"directory": str(tmp_path)}, tool_seconds=0.3)
    assert (hung.error, hung.text) == (True, "No answer within 0.3 seconds; given up.")
    session.clear()
    assert ask(session, stuck, "forest__girth", {"tree": "oak"}).text == "oak: 4.1 m"


def test_stopping_a_run_stops_waiting_for_a_server(stuck: Servers, session: Session, tmp_path: Path) -> None:
    stop = Stop()

    def stop_when_called() -> None:
        deadline = time.monotonic() + 30
        while not (tmp_path / "called").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        stop.set()

    threading.Thread(target=stop_when_called, daemon=True).start()
    provider = FakeProvider(FakeReply("", (tool_call("c1", "forest__hang", {"directory": str(tmp_path)}),)))
    done = run(Agent(provider, tools=[stuck]), session, "go", stop=stop)
    assert (done.status, done.reason) == ("stopped", "stopped")


def test_the_stderr_of_a_server_does_not_reach_the_terminal(
    forest: Servers, session: Session, capfd: pytest.CaptureFixture[str]
) -> None:
    ask(session, forest, "forest__girth", {"tree": "oak"})
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("no-such-program-anywhere",), "no-such-program-anywhere"),
        ((sys.executable, "-c", "import sys; sys.exit('the roots are rotten')"), "the roots are rotten"),
        ((sys.executable, "-c", "print('good morning'); import sys; print('not MCP', file=sys.stderr)"), "not MCP"),
    ],
)
def test_the_error_of_a_failed_start_names_the_server_and_its_stderr(
    command: tuple[str, ...], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ToolError, match="'rotten' cannot be used") as error, Servers([Server("rotten", command)]):
        pass
    assert said in str(error.value)
    assert capfd.readouterr().err == ""


def test_the_error_without_the_mcp_package_states_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(ToolError, match=r"pip install 'bough\[mcp\]'"), Servers([Server("forest", COMMAND)]):
        pass


def test_listing_the_tools_of_unstarted_servers_is_an_error() -> None:
    with pytest.raises(ToolError, match="not started"):
        Servers([Server("forest", COMMAND)]).tools()


def test_a_server_table_may_refer_to_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOREST_KEY", "acorn")
    made = Server.of("forest", {"url": "http://localhost/", "headers": {"Authorization": "Bearer $FOREST_KEY"}})
    assert made.headers == {"Authorization": "Bearer acorn"}
    assert Server.of("forest", {"command": ["x"], "env": {"K": "$FOREST_KEY"}}).env == {"K": "acorn"}


def test_a_server_without_a_command_or_a_url_is_refused() -> None:
    with pytest.raises(ToolError, match="either a command or a url"):
        Server.of("nowhere", {"env": {}})


def test_a_server_of_the_older_protocol_can_be_used(session: Session) -> None:
    with Servers([Server("old", OLD)]) as servers:
        assert names(servers) == ["old__plant"]
        assert ask(session, servers, "old__plant", {"name": "birch"}).text == "planted birch"
        assert names(servers) == ["old__plant", "old__birch"]


# Over HTTP ----------------------------------------------------------------------------------------------------------


@contextmanager
def web(port: int) -> Iterator[None]:
    """A server over HTTP, until it is killed."""
    process = subprocess.Popen([*COMMAND, str(port)])
    deadline = time.monotonic() + 90
    while not answers(port):
        assert time.monotonic() < deadline, "it does not answer"
        time.sleep(0.05)
    yield
    process.kill()
    process.wait(30)


def test_a_server_over_http_is_used_again_after_its_restart(session: Session) -> None:
    port, connection = free_port(), ExitStack()
    with web(port):
        table = {"url": f"http://127.0.0.1:{port}/mcp", "headers": {"X-Season": "autumn"}}
        servers = connection.enter_context(Servers([Server.of("forest", table)]))
        assert ask(session, servers, "forest__girth", {"tree": "oak"}).text == "oak: 4.1 m"
    with connection:
        session.clear()
        gone = ask(session, servers, "forest__girth", {"tree": "oak"})
        assert gone.error
        assert "The MCP server 'forest' is not there any more" in gone.text
        session.clear()
        with web(port):
            assert ask(session, servers, "forest__girth", {"tree": "elm"}).text == "elm: 4.1 m"


def test_the_error_for_an_unreachable_http_server_names_it() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        nowhere = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
        with pytest.raises(ToolError, match="'forest' cannot be used"), Servers([Server("forest", url=nowhere)]):
            pass


def test_a_huge_result_is_dropped_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from mcp.types import CallToolResult, TextContent

    monkeypatch.setattr(results, "LARGEST", 1000)
    with pytest.raises(ToolError, match="and 1,000 is the most; it was dropped"):
        results.decode_result(CallToolResult(content=[TextContent(type="text", text="x" * 1000)]))


def test_a_server_that_sends_an_endless_line_is_ended(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_limit, "LONGEST_LINE", 5_000_000)
    with Servers([Server("old", OLD)]) as servers:
        result = ask(session, servers, "old__plant", {"name": "a line that does not end"})
        assert result.error
        assert "sent a line of more than 5,000,000 bytes; it was ended" in result.text
