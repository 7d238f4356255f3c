"""What `bough run` asks and in what form it answers: options, templates, schemas, several models, tools, code."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import bough
from tests.cli.bough_process import Shell
from tests.cli.scripted_shell import ScriptedShell, configure, id_in
from tests.cli.terminal import Terminal

CODE = "Here:\\n```python\\nprint(1)\\n```\\nor\\n```\\nls\\n```"


@pytest.fixture
def talk(sh: Shell) -> ScriptedShell:
    made = ScriptedShell(sh)
    made.script("First reply.", "Second reply.")
    return made


class Chat(BaseHTTPRequestHandler):
    """A server with OpenAI's chat API, which remembers what it was asked."""

    asked: list[dict[str, Any]] = []  # noqa: RUF012  # of the class of one test

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body)
        text = json.dumps({"name": "Alder", "age": 7}) if "response_format" in body or "text" in body else "plain"
        chunk = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


@pytest.fixture
def asked(sh: Shell) -> Iterator[list[dict[str, Any]]]:
    """The bodies of the requests to the model `grove:oak`."""
    own = type("Own", (Chat,), {"asked": []})
    made = HTTPServer(("127.0.0.1", 0), own)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    configure(sh, f'[providers.grove]\nbase_url = "http://127.0.0.1:{made.server_port}/v1"\n')
    yield own.asked  # type: ignore[attr-defined]
    made.shutdown()
    thread.join()
    made.server_close()


def test_options_are_fields_of_the_request(sh: Shell, asked: list[dict[str, Any]]) -> None:
    done = sh("run", "-m", "grove:oak", "-o", "temperature=0.2", "-o", "max_tokens=9", "-o", "reasoning_effort=low",
              "-o", "provider.order=[1]", "-o", "user=me", "hi")  # fmt: skip
    assert (done.status, done.out) == (0, "plain\n"), done.err
    (body,) = asked
    wanted = {"temperature": 0.2, "max_tokens": 9, "reasoning_effort": "low", "provider": {"order": [1]}, "user": "me"}
    assert {name: body[name] for name in wanted} == wanted
    for wrong in ("temperature", "=1", "max_tokens=many"):
        refused = sh("run", "-m", "grove:oak", "-o", wrong, "hi")
        assert (refused.status, "Nothing was asked" in refused.err) == (2, True)
    assert len(asked) == 1


def test_a_schema_is_sent_and_the_answer_is_validated(sh: Shell, asked: list[dict[str, Any]]) -> None:
    done = sh("run", "-m", "grove:oak", "--schema", "name, age int: in years", "invent a gardener")
    assert json.loads(done.out) == {"name": "Alder", "age": 7}
    sent = asked[0]["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["required"] == ["name", "age"]
    assert sent["schema"]["properties"]["age"] == {"type": "integer", "description": "in years"}
    as_json = sh("run", "-m", "grove:oak", "--schema", "name, age int", "--json", "again")
    assert json.loads(as_json.out)["answer"] == {"name": "Alder", "age": 7}
    wrong = sh("run", "-m", "grove:oak", "--schema", "name, age str", "again")
    assert wrong.status == 2
    assert json.loads(wrong.out)["age"] == 7  # what came is printed all the same
    assert "bough: The answer does not fit the schema: $.age: 7 is not of type 'string'" in wrong.err
    assert sh("run", "-r").out == '{"name": "Alder", "age": 7}\n'


@pytest.mark.parametrize("api", ["openai.responses", "anthropic"])
def test_every_api_has_its_own_name_for_a_schema_and_for_effort(api: str) -> None:
    from bough.providers.request_options import effort, merged, structured_output

    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    fields = merged(effort(api, "high"), structured_output(api, schema))
    if api == "anthropic":
        assert fields == {"output_config": {"effort": "high", "format": {"type": "json_schema", "schema": schema}}}
    else:
        assert fields["reasoning"] == {"effort": "high"}
        assert fields["text"]["format"]["schema"] == schema


def test_schemas_that_are_none_are_refused_before_anything_is_asked(talk: ScriptedShell, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"type": "gardener"}')
    (tmp_path / "good.json").write_text('{"type": "array", "items": {"type": "integer"}}')
    for wrong, message in (
        ("bad.json", "is not a JSON Schema"), ("none.json", "There is no schema"), ("{", "is not JSON"),
        ("age number of years", "is no field"), ("", "needs a file"),
    ):  # fmt: skip
        done = talk("run", "--schema", wrong or " ", "hi")
        assert done.status != 0, wrong
        assert message in done.err
        assert "asked." in done.err
    talk.script("[1, 2]")
    assert talk("run", "--schema", "good.json", "count").out == "[1, 2]\n"
    assert talk.keys() == [f"cli:{talk.sh.directory.name}"]


def test_the_last_reply_is_printed_again_and_its_code_alone(talk: ScriptedShell) -> None:
    assert talk("run", "-r").status == 3
    talk.script("Before.", CODE)
    talk.ask("run", "one")
    first = talk("run", "-x", "code?")
    assert first.out == "print(1)\n"
    assert "first of 2 code blocks" in first.err
    last = talk("-r")
    assert last.out == CODE.replace("\\n", "\n") + "\n"
    assert id_in(last.err)
    assert talk("run", "--last", "-x").out == "print(1)\n"
    assert json.loads(talk("run", "-r", "--json").out)["role"] == "assistant"
    assert talk("run", "-r", "and what?").status == 2
    talk.script("No code here.")
    none = talk("run", "-n", "-x", "code?")
    assert (none.status, none.out) == (3, "")
    assert "There is no code in the reply. It is stored" in none.err


def test_a_reply_is_copied_to_the_terminals_clipboard(talk: ScriptedShell) -> None:
    talk.script(CODE)
    with Terminal(talk.sh, "run", "-x", "--copy", "code?", BOUGH_MODEL="scripted:script", DISPLAY="") as terminal:
        written = terminal.process.read()
    assert b"\x1b]52;c;cHJpbnQoMSkK\x07" in written
    assert b"print(1)" in written
    done = talk("run", "-n", "--copy", "code?", DISPLAY="", WAYLAND_DISPLAY="")
    assert "There is no clipboard here" in done.err


def test_a_template_has_prompt_system_model_and_variables(talk: ScriptedShell, asked: list[dict[str, Any]]) -> None:
    configure(
        talk.sh,
        (talk.sh.directory / ".config/bough/config.toml").read_text()
        + """
[templates.review]
system = "You review $language."
prompt = "Review: $input!"
model = "grove:oak"
options = { temperature = 0.1 }
defaults = { language = "Python" }
[templates.plain]
prompt = "Tell me of $what."
""",
    )
    done = talk.sh("run", "-t", "review", "this", stdin="x = 1\n")
    assert done.out == "plain\n", done.err
    assert [one["content"] for one in asked[0]["messages"]] == ["You review Python.", "Review: this\n\nx = 1!"]
    assert asked[0]["temperature"] == 0.1
    talk.sh("run", "-n", "-t", "review", "-p", "language=C", "-o", "temperature=1", "that")
    assert (asked[1]["messages"][0]["content"], asked[1]["temperature"]) == ("You review C.", 1)
    assert talk("run", "-n", "-t", "plain", "-p", "what=oaks", "In short.").status == 0
    assert talk.dialog(talk.keys()[0])[0] == "Tell me of oaks.\n\nIn short."
    missing = talk("run", "-t", "plain", "hi")
    assert (missing.status, "-p what=…" in missing.err) == (2, True)
    assert "has no variable 'why'" in talk("run", "-t", "plain", "-p", "what=a", "-p", "why=b").err
    assert "There is no [templates.nothing]" in talk("run", "-t", "nothing", "hi").err
    assert "review  language   Review: $input!" in talk("templates").out
    assert json.loads(talk("templates", "review", "--json").out)["variables"] == ["language"]
    assert "system: You review $language." in talk("templates", "review").out


def test_several_models_answer_one_question_as_siblings(talk: ScriptedShell) -> None:
    one, two = talk.script("Of one.", "Again.", name="one"), talk.script("Of two.", "Again.", name="two")
    done = talk("run", "-m", one, "-m", two, "which?")
    assert done.status == 0, done.err
    assert [line.partition(" [")[0] for line in done.out.splitlines()] == [
        "scripted:one", "Of one.", "", "scripted:two", "Of two.",
    ]  # fmt: skip
    with bough.connect(talk.sh.db) as store:
        (question,) = [node for node in store.list_messages() if node.role == "user"]
        answers = store.children(question.id)
        assert sorted(node.message.text for node in answers) == ["Of one.", "Of two."]
        session = store.session(talk.keys()[0])
        assert session.path()[-1].message.text == "Of one."
    both = json.loads(talk("run", "-m", one, "-m", two, "--json", "and now?").out)
    assert [answer["text"] for answer in both] == ["Again.", "Again."]
    failing = talk.script({"error": "rate_limit", "message": "Too many requests."}, name="failing")
    half = talk("run", "-n", "-m", failing, "-m", two, "which?")
    assert half.status == 0
    assert "failing failed: Too many requests." in half.err
    with Terminal(talk.sh, "run", "-n", "-m", one, "-m", two, "which?") as terminal:
        terminal.find(r"Of one\.\s+│ Of two\.")
    assert "A chat has one model" in talk("chat", "-m", one, "-m", two, stdin="hi\n").err


def test_python_functions_are_tools(talk: ScriptedShell, tmp_path: Path) -> None:
    (tmp_path / "grove.py").write_text(
        'def girth(tree: str) -> str:\n    """Measure."""\n    return f"{tree}: 3 m"\n\ndef _own() -> None: ...\n'
    )
    call = {"blocks": [{"type": "tool_call", "name": "girth", "arguments": {"tree": "oak"}}]}
    for name in ("grove.py", "grove.py:girth", "grove:girth"):
        talk.script(call, "Three metres.")
        done = talk("run", "-n", "--tools", name, "how thick?")
        assert done.out == "Three metres.\n", done.err
        assert "oak: 3 m" in done.err
    assert "There is no function 'height'" in talk("run", "--tools", "grove:height", "x").err
    assert "cannot be loaded" in talk("run", "--tools", "nowhere.py", "x").err
    assert "There is no [mcp.nobody]" in talk("run", "--tools", "nobody", "x").err


def test_the_end_of_a_long_answer_rings_and_notifies(talk: ScriptedShell) -> None:
    configure(talk.sh, "[run]\nnotify_after = 0.0001\n")
    for words, rings in (((), True), (("--plain",), False)):
        with Terminal(talk.sh, *words, "run", "-n", "hi", BOUGH_MODEL="scripted:script") as terminal:
            written = terminal.process.read()
        assert (b"\x1b]9;bough: the answer is there\x1b\\\x07" in written) == rings
        assert rings or b"\x1b" not in written
