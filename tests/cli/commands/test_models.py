"""`bough models`: what the configured providers offer, asked once a day."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.cli.bough_process import Shell
from tests.cli.scripted_shell import configure

LISTED = {
    "data": [
        {"id": "oak-2", "context_length": 9000, "pricing": {"prompt": "0.000002", "completion": "0.00001"}},
        {"id": "gpt-5.4-mini"},
        {"no": "id"},
    ]
}


class Models(BaseHTTPRequestHandler):
    asked: list[str] = []  # noqa: RUF012  # of the class of one test

    def do_GET(self) -> None:
        self.asked.append(f"{self.path} {self.headers['Authorization']}")
        body = json.dumps(LISTED).encode()
        self.send_response(200 if "models" in self.path else 404)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    made = HTTPServer(("127.0.0.1", 0), type("Own", (Models,), {"asked": []}))
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}/v1", made.RequestHandlerClass.asked  # type: ignore[attr-defined]
    made.shutdown()
    thread.join()
    made.server_close()


def test_models_are_listed_with_window_and_price_and_the_lists_are_kept(
    sh: Shell, server: tuple[str, list[str]]
) -> None:
    url, asked = server
    configure(sh, f'[run]\nmodel = "grove:oak-2"\n[providers.grove]\nbase_url = "{url}"\napi_key = "sk-12345678"\n')
    rows = [line.split() for line in sh("models").out.splitlines()]
    assert ["*", "grove:oak-2", "9,000", "$2.00", "$10.00"] in rows
    assert ["grove:gpt-5.4-mini", "400,000", "$0.75", "$4.50"] in rows
    assert any(row[0] == "local" for row in rows)
    assert asked == ["/v1/models Bearer sk-12345678"]
    (found,) = json.loads(sh("models", "oak", "--json").out)
    assert found == {"model": "grove:oak-2", "provider": "grove", "window": 9000, "input_price": 2.0,
                     "output_price": 10.0, "default": True}  # fmt: skip
    assert len(asked) == 1
    assert sh("models", "--refresh").status == 0
    assert len(asked) == 2
    assert "None of 3 models is called 'birch'" in sh("models", "birch").err
    completed = sh(_BOUGH_COMPLETE="bash_complete", COMP_WORDS="bough run -m grove:o", COMP_CWORD="3")
    assert completed.out == "plain,grove:oak-2\n"


def test_a_provider_that_cannot_be_asked_is_one_line_and_the_others_are_listed(sh: Shell) -> None:
    configure(sh, '[providers.gone]\nbase_url = "http://127.0.0.1:9/v1"\n')
    done = sh("models")
    assert done.status == 0
    assert "local" in done.out
    assert done.err.startswith("gone: gone cannot be reached")
