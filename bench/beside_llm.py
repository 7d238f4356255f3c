"""`python -m bench.beside_llm [LLM]`: the tasks of a day in bough and in llm, on the same server, in the same run.

Prints the table of docs/terminal.md: what is typed, and the seconds to the first byte of output, the least of five.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

RUNS = 5
QUESTION = "@"
"""Stands for the id of the last question."""
TASKS: tuple[tuple[str, list[str] | None, list[str] | None], ...] = (
    ("Help", ["--help"], ["--help"]),
    ("Ask", ["name two trees"], ["name two trees"]),
    ("Continue", ["-c", "and one more"], ["-c", "and one more"]),
    ("The last answer again", ["-r"], ["logs", "-r"]),
    ("Only the code of an answer", ["-x", "code"], ["-x", "code"]),
    ("An answer of a schema", ["--schema", "name, age int", "invent"], ["--schema", "name, age int", "invent"]),
    ("A template", ["-t", "tell", "oaks"], ["-t", "tell", "oaks"]),
    ("An option", ["-o", "temperature=1", "hi"], ["-o", "temperature", "1", "hi"]),
    ("List conversations", ["ls"], ["logs", "list", "-s"]),
    ("Find words", ["search", "trees"], ["logs", "-q", "trees"]),
    ("Read the conversation", ["show"], ["logs", "-c"]),
    ("Where am I", ["status"], None),
    ("Two models, one question", ["-m", "grove:oak", "-m", "grove:ash", "which"], None),
    ("Another answer to a question", ["-c", QUESTION], None),
    ("Undo", ["undo"], None),
)


class Replies(BaseHTTPRequestHandler):
    """OpenAI's chat API: code if asked for it, JSON for a schema, streamed or whole."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = str(body["messages"][-1]["content"])
        text = "```\nls\n```" if "code" in asked else "Oak, ash."
        text = '{"name": "Alder", "age": 7}' if "response_format" in body else text
        reply: dict[str, Any] = {
            "id": "x",
            "created": 1,
            "model": "oak",
            "choices": [{"index": 0, "finish_reason": "stop"}],
        }
        self.send_response(200)
        if body.get("stream"):
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            reply |= {"object": "chat.completion.chunk"}
            reply["choices"][0]["delta"] = {"role": "assistant", "content": text}
            self.wfile.write(f"data: {json.dumps(reply)}\n\ndata: [DONE]\n\n".encode())
            return
        reply |= {"object": "chat.completion"}
        reply["usage"] = {"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6}
        reply["choices"][0]["message"] = {"role": "assistant", "content": text}
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


def configure(home: Path, url: str) -> dict[str, str]:
    """Both programs on the same server; their environment."""
    for made in (home / "llm" / "templates", home / ".config" / "bough"):
        made.mkdir(parents=True)
    model = f"- model_id: oak\n  model_name: oak\n  api_base: {url}\n  api_key_name: x\n  supports_schema: true\n"
    (home / "llm" / "extra-openai-models.yaml").write_text(model)
    (home / "llm" / "keys.json").write_text('{"x": "k"}')
    (home / "llm" / "default_model.txt").write_text("oak")
    (home / "llm" / "templates" / "tell.yaml").write_text("prompt: 'Tell: $input'\n")
    config = f'[run]\nmodel = "grove:oak"\n[providers.grove]\nbase_url = "{url}"\n'
    config += '[templates.tell]\nprompt = "Tell: $input"\n'
    (home / ".config" / "bough" / "config.toml").write_text(config)
    return {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "LLM_USER_PATH": str(home / "llm"),
            "BOUGH_DB": str(home / "chats.db")}  # fmt: skip


def first_byte(words: list[str], home: Path, env: dict[str, str]) -> float:
    """Seconds to the first byte of output. Raises `RuntimeError` for a command that fails."""
    begun = time.perf_counter()
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=env,
                          cwd=home) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.read(1)
        seconds = time.perf_counter() - begun
        _, errors = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{words} ended with {process.returncode}: {errors.decode()}")
    return seconds


def cell(name: str, path: str, words: list[str] | None, home: Path, env: dict[str, str]) -> str:
    if words is None:
        return "–"
    if QUESTION in words:
        shown = subprocess.run([path, "show", "--json"], env=env, cwd=home, capture_output=True, text=True, check=True)
        asked = [one["id"] for one in json.loads(shown.stdout)["messages"] if one["role"] == "user"]
        words = [asked[-1] if word == QUESTION else word for word in words]
    typed = " ".join([name, *(f'"{word}"' if " " in word else word for word in words)])
    seconds = min(first_byte([path, *words], home, env) for _ in range(RUNS))
    return f"`{typed}` | {len(typed) + 1} | {seconds:.2f}"


def main() -> None:
    llm = sys.argv[1] if len(sys.argv) > 1 else shutil.which("llm")
    bough = str(Path(sys.executable).parent / "bough")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Replies)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as room:
        env = configure(Path(room), f"http://127.0.0.1:{server.server_port}/v1")
        print("| task | bough | keys | s | llm | keys | s |\n|---|---|--:|--:|---|--:|--:|")
        for task, ours, theirs in TASKS:
            other = cell("llm", llm, theirs, Path(room), env) if llm and theirs else "– | |"
            print(f"| {task} | {cell('bough', bough, ours, Path(room), env)} | {other} |", flush=True)
    server.shutdown()


if __name__ == "__main__":
    main()
