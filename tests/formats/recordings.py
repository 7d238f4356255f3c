"""Read recorded HTTP exchanges: VCR's YAML and JSON, plain or gzipped, and HAR files."""

from __future__ import annotations

import base64
import gzip
import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from bough.model import Json

SUFFIXES = (".yaml", ".yml", ".json", ".har")
PATHS = {
    "/chat/completions": "openai.chat",
    "/responses": "openai.responses",
    "/v1/messages": "anthropic",
    "/converse": "bedrock",
    "/converse-stream": "bedrock",
    ":generatecontent": "gemini",
    ":streamgeneratecontent": "gemini",
    "/api/chat": "ollama",
    "/v2/chat": "cohere",
    "/interactions": "gemini.interactions",
}
"""Ends of the addresses of APIs, and the format that each speaks."""
LISTS = {"openai.responses": "input", "gemini": "contents", "gemini.interactions": "input"}
"""Name of the list in a request, where it is not `messages`."""


@dataclass(frozen=True)
class Exchange:
    """One request and its successful reply: whole, or as the events of a stream."""

    file: Path
    url: str
    format: str
    request: dict[str, Json]
    reply: dict[str, Json] | None
    events: tuple[Json, ...] = ()

    @property
    def items(self) -> Json:
        return self.request.get(LISTS.get(self.format, "messages"))


def exchanges(root: Path) -> Iterator[Exchange]:
    """The exchanges of all recordings in a directory, in the order of their files. Others are passed over."""
    for file in sorted(path for path in root.rglob("*") if path.is_file()):
        name = file.name.removesuffix(".gz")
        if not name.endswith(SUFFIXES):
            continue
        data = gzip.decompress(file.read_bytes()) if file.name.endswith(".gz") else file.read_bytes()
        for request, response in _interactions(_parsed(name, data)):
            if found := _exchange(file, request, response):
                yield found


def _parsed(name: str, data: bytes) -> Json:
    try:
        if name.endswith((".json", ".har")):
            return json.loads(data)
        yaml = import_module("yaml")
        return yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (ValueError, RecursionError, ImportError):
        return None
    except Exception as error:  # a cassette with tags of Python objects
        if type(error).__module__.startswith("yaml"):
            return None
        raise


def _interactions(content: Json) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Pairs of a request and a response, both as VCR writes them."""
    if not isinstance(content, dict):
        return
    entries = content.get("log", {}).get("entries") if isinstance(content.get("log"), dict) else None
    if isinstance(entries, list):
        for entry in entries:
            yield _from_har(entry)
    elif isinstance(content.get("interactions"), list):
        for one in content["interactions"]:
            yield one.get("request") or {}, one.get("response") or {}
    elif isinstance(content.get("requests"), list) and isinstance(content.get("responses"), list):
        yield from zip(content["requests"], content["responses"], strict=False)


def _from_har(entry: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    asked, answered = entry.get("request") or {}, entry.get("response") or {}
    content = answered.get("content") or {}
    text = content.get("text") or ""
    body = base64.b64decode(text) if content.get("encoding") == "base64" else text
    request = {
        "uri": asked.get("url"),
        "method": asked.get("method"),
        "body": (asked.get("postData") or {}).get("text"),
    }
    return request, {"status": {"code": answered.get("status")}, "body": {"string": body}}


def _exchange(file: Path, request: dict[str, Any], response: dict[str, Any]) -> Exchange | None:
    url = str(request.get("uri") or request.get("url") or "")
    path = url.split("?", maxsplit=1)[0].rstrip("/").lower()
    format_name = next((name for end, name in PATHS.items() if path.endswith(end)), None)
    status = response.get("status")
    code = status.get("code") if isinstance(status, dict) else response.get("status_code", status)
    asked = request.get("parsed_body") or _json(_bytes(request.get("body")))
    if format_name is None or not isinstance(asked, dict) or code not in (200, "200", None):
        return None
    answered = response.get("parsed_body")
    body = _bytes(response.get("body") if "body" in response else response.get("content"))
    whole = answered if isinstance(answered, dict) else _json(body)
    if isinstance(whole, dict):
        return (
            Exchange(file, url, format_name, asked, whole) if "error" not in whole or whole["error"] is None else None
        )
    events = tuple(whole) if isinstance(whole, list) else tuple(_events(body))
    return Exchange(file, url, format_name, asked, None, events) if events else None


def _bytes(body: Any) -> bytes:
    """A body as VCR writes it: text, bytes, or an object around it; perhaps compressed."""
    if isinstance(body, dict):
        found = body.get("string", body.get("base64_string", body.get("text")))
        if isinstance(found, str) and ("base64_string" in body or body.get("encoding") == "base64"):
            found = base64.b64decode(found)
        body = found
    data: bytes = (
        body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass") if isinstance(body, str) else b""
    )
    if data[:2] == b"\x1f\x8b":
        try:
            return gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            return b""
    return data


def _json(data: bytes) -> Json:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _events(body: bytes) -> Iterator[Json]:
    """The events of a stream: SSE, one object per line, or frames of AWS."""
    text = body.decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines()]
    if any(line.startswith("data:") for line in lines):
        datas = [line[5:].strip() for line in lines if line.startswith("data:")]
        yield from (event for data in datas if (event := _json(data.encode())) is not None)
    elif body[:1] == b"{":
        yield from (event for line in lines if (event := _json(line.encode())) is not None)
    else:
        yield from _frames(body)


def _frames(body: bytes) -> Iterator[Json]:
    """AWS's event stream: length, length of the headers, checksum; headers; payload; checksum."""
    while len(body) >= 16:
        total, headers = struct.unpack(">II", body[:8])
        if not 16 <= total <= len(body):
            return
        kind = _event_type(body[12 : 12 + headers])
        payload = _json(body[12 + headers : total - 4])
        if kind and isinstance(payload, dict):
            yield {kind: {key: value for key, value in payload.items() if key != "p"}}
        body = body[total:]


def _event_type(headers: bytes) -> str | None:
    place = 0
    while place < len(headers):
        size = headers[place]
        name = headers[place + 1 : place + 1 + size]
        length = int.from_bytes(headers[place + 2 + size : place + 4 + size], "big")
        value = headers[place + 4 + size : place + 4 + size + length]
        if name == b":event-type":
            return value.decode()
        place += 4 + size + length
    return None
