"""Official clients that are pointed at the proxy work as before, and their dialogs are kept."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

import bough
from tests.providers.servers import Server, head, hold, status, stream, torn
from tests.providers.servers import serving as upstream
from tests.providers.wires import ANTHROPIC, CHAT, RESPONSES, TEXT
from tests.server.serving import Serving, serving

KEY = "sk-of-the-client-0123456789"


def config(server: Server) -> str:
    return f'[server.proxy]\nopenai = "{server.address}/v1"\nanthropic = "{server.address}"\n'


def openai_client(api: Serving, **options: Any) -> openai.OpenAI:
    base = f"{api.url}/proxy/{api.token}/openai/v1"
    return openai.OpenAI(base_url=base, api_key=KEY, max_retries=0, default_headers={"User-Agent": "codex/1 (x)"})


def texts(api: Serving) -> dict[str, list[str]]:
    """The dialogs by session."""
    with bough.connect(str(api.db)) as store:
        return {info.key.rpartition(":")[0]: [node.message.text for node in store.session(info.key).path()]
                for info in store.sessions()}  # fmt: skip


def test_what_passes_is_what_was_sent_and_the_dialog_is_kept(tmp_path: Path) -> None:
    with (
        upstream(stream(CHAT.events, X_Request_Id="req_up")) as server,
        serving(tmp_path, "-v", config=config(server)) as api,
    ):
        client = openai_client(api)
        dialog: list[Any] = [{"role": "system", "content": "s"}, {"role": "user", "content": "hi"}]
        chunks = list(client.chat.completions.create(model="m-1", messages=dialog, stream=True))
        assert [chunk.to_dict() for chunk in chunks] == [e for e in CHAT.events if isinstance(e, dict)]
        (heard,) = server.heard
        assert heard.line.startswith("POST /v1/chat/completions ")
        assert heard.headers["authorization"] == f"Bearer {KEY}"
        assert api.token not in json.dumps([heard.line, heard.headers, heard.body])
        assert heard.body == {"model": "m-1", "messages": dialog, "stream": True}
        assert texts(api) == {"proxy:codex": ["hi", TEXT]}
        with bough.connect(str(api.db)) as store:
            (reply,) = store.replies()
            assert (reply.model, reply.provider, reply.request_id, reply.usage.input_tokens) == (
                "m-1",
                "openai",
                "req_up",
                11,
            )
        api.stop()
        assert KEY not in api.errors()
        assert KEY.encode() not in (tmp_path / "s.db").read_bytes()


def test_responses_that_continue_others_are_one_dialog(tmp_path: Path) -> None:
    with upstream(stream(RESPONSES.events)) as server, serving(tmp_path, config=config(server)) as api:
        client = openai_client(api)
        first = list(client.responses.create(model="m-1", input="hi", stream=True))[-1].to_dict()
        id = first["response"]["id"]  # type: ignore[index]
        list(client.responses.create(model="m-1", input="on", previous_response_id=id, stream=True))
        assert texts(api) == {"proxy:codex": ["hi", TEXT, "on", TEXT]}
        assert server.heard[1].body["previous_response_id"] == id


def test_anthropic_clients_are_recorded_too(tmp_path: Path) -> None:
    with upstream(stream(ANTHROPIC.events)) as server, serving(tmp_path, config=config(server)) as api:
        base = f"{api.url}/proxy/{api.token}/anthropic"
        with anthropic.Anthropic(base_url=base, api_key=KEY, max_retries=0) as client:
            with client.messages.stream(
                model="m-1", max_tokens=9, messages=[{"role": "user", "content": "hi"}]
            ) as made:
                assert made.get_final_text() == TEXT
        assert server.heard[0].line.startswith("POST /v1/messages ")
        assert KEY in (server.heard[0].headers.get("x-api-key"), server.heard[0].headers["authorization"][7:])
        assert list(texts(api).values()) == [["hi", TEXT]]


def test_errors_and_other_requests_pass_and_a_question_is_kept(tmp_path: Path) -> None:
    error = status(429, {"error": {"message": "slow down"}}, Retry_After=7)
    models = status(200, {"object": "list", "data": [{"id": "m-1", "object": "model", "created": 0, "owned_by": "x"}]})
    with upstream(error, models) as server, serving(tmp_path, config=config(server)) as api:
        client = openai_client(api)
        with pytest.raises(openai.RateLimitError, match="slow down") as caught:
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
        assert caught.value.response.headers["retry-after"] == "7"
        assert [model.id for model in client.models.list()] == ["m-1"]
        with bough.connect(str(api.db)) as store:
            assert [node.message.text for node in store.list_messages()] == ["hi"]


def test_a_reply_that_is_cut_is_cut_for_the_client_and_not_recorded_as_whole(tmp_path: Path) -> None:
    with upstream(torn(CHAT.events[: CHAT.cut])) as server, serving(tmp_path, config=config(server)) as api:
        with pytest.raises((openai.APIError, httpx2.RemoteProtocolError)):
            list(openai_client(api).chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hi"}], stream=True))  # fmt: skip
        with bough.connect(str(api.db)) as store:
            assert [node.message.text for node in store.list_messages()] == ["hi"]
            assert [turn.status for turn in store.turns()] == ["interrupted"]


def test_a_compressed_reply_is_recorded(tmp_path: Path) -> None:
    reply = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "zipped"}, "finish_reason": "stop"}]}  # fmt: skip
    data = gzip.compress(json.dumps(reply).encode())
    packed = head(200, "application/json", Content_Encoding="gzip", Content_Length=len(data)) + data
    with (
        upstream(lambda connection: connection.sendall(packed)) as server,
        serving(tmp_path, config=config(server)) as api,
    ):
        made = openai_client(api).chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
        assert made.choices[0].message.content == "zipped"
        assert texts(api) == {"proxy:codex": ["hi", "zipped"]}


def test_a_client_that_leaves_takes_the_request_with_it(tmp_path: Path) -> None:
    from threading import Event

    hung_up = Event()
    with upstream(hold(CHAT.events[: CHAT.cut], hung_up)) as server, serving(tmp_path, config=config(server)) as api:
        made = openai_client(api).chat.completions.create(
            model="m", messages=[{"role": "user", "content": "hi"}], stream=True
        )
        next(iter(made))
        made.close()
        assert hung_up.wait(20)


def test_nobody_passes_without_a_token_and_nowhere_else(tmp_path: Path) -> None:
    with serving(tmp_path) as api, api.client(None) as http:
        assert http.get("/proxy/wrong/openai/v1/models").status_code == 401
        assert http.get(f"/proxy/{api.token}/elsewhere/v1/models").status_code == 404
