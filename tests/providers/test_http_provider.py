"""HTTP providers, for each API: replies, streams, errors, retries and timeouts."""

from __future__ import annotations

import gzip
import json
import resource
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle
from socket import socket
from threading import Event, Thread
from time import sleep
from typing import Any

import pytest

from bough import Usage, formats, providers, user
from bough.errors import ProviderError
from bough.model import ToolCall
from bough.providers import bounded, connection, deadline
from bough.providers.http_provider import HttpAnswer
from bough.providers.types import Piece, Provider, Tool

from .servers import Server, drip, drop, head, hold, serving, status, stream, torn
from .wires import ARGUMENTS, CHAT, PIECES, TEXT, WIRES, Wire

KEY = "sk-test-0123456789abcdef"
TOOL = Tool("look", "Looks somewhere.", {"type": "object", "properties": {"at": {"type": "string"}}})

every_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.type)


def shown(answer: Any) -> list[Piece]:
    """The pieces of an answer that are displayed, without their places."""
    return [Piece(piece.kind, piece.text) for piece in answer if piece.kind != "arguments"]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BACKOFF", 0.01)


def provider(server: Server, wire: Wire = CHAT, **more: Any) -> Provider:
    table = {"base_url": f"{server.address}/v1", "type": wire.type, "api_key": KEY, **more}
    return providers.find("mine:m-1", {"mine": table})


def asked(wire: Wire = CHAT) -> Any:
    return formats.get(wire.format).encode([user("hello")]).payload


@every_wire
def test_a_stream_yields_pieces_and_the_reply_of_a_call_without_streaming(wire: Wire) -> None:
    with serving(stream(wire.events, X_Request_Id="req_7")) as server:
        answer = provider(server, wire).ask(asked(wire))
        assert shown(answer) == PIECES
    decoded = formats.get(wire.format).decode(answer.reply())
    assert wire.text(answer.reply()) == TEXT
    assert [block.arguments for block in decoded.messages[0].blocks if isinstance(block, ToolCall)] == [ARGUMENTS]
    assert answer.usage == Usage(11, 7, 3, None, None)
    assert answer.request_id == "req_7"
    assert answer.first_token_at is not None


@every_wire
def test_the_request_contains_dialog_instructions_tools_and_key_in_the_format_of_the_api(wire: Wire) -> None:
    with serving(stream(wire.events)) as server:
        mine = provider(server, wire, options={"temperature": 1, "top_p": 0.5}, headers={"X-Team": "blue"})
        told = {"temperature": 0.3, "top_p": None}
        list(mine.ask(asked(wire), instructions="Be brief.", tools=[TOOL], max_tokens=99, options=told))
    (heard,) = server.heard
    assert heard.line == f"POST /v1{wire.path} HTTP/1.1"
    assert heard.headers["x-team"] == "blue"
    body = heard.body
    assert (body["model"], body["stream"], body["temperature"], "top_p" in body) == ("m-1", True, 0.3, False)
    match wire.type:
        case "openai":
            assert heard.headers["authorization"] == f"Bearer {KEY}"
            assert body["messages"] == [{"role": "system", "content": "Be brief."}, *asked(wire)]
            assert body["tools"][0]["function"]["parameters"] == TOOL.parameters
            assert body["max_tokens"] == 99
        case "openai.responses":
            assert heard.headers["authorization"] == f"Bearer {KEY}"
            assert (body["input"], body["instructions"]) == (asked(wire), "Be brief.")
            assert body["tools"][0]["parameters"] == TOOL.parameters
            assert (body["max_output_tokens"], body["store"]) == (99, False)
        case "anthropic":
            assert heard.headers["x-api-key"] == KEY
            assert (body["messages"], body["system"]) == (asked(wire), "Be brief.")
            assert body["tools"][0]["input_schema"] == TOOL.parameters
            assert body["max_tokens"] == 99


@every_wire
@pytest.mark.parametrize("code", [429, 500, 503, 529])
def test_a_busy_server_is_retried(wire: Wire, code: int) -> None:
    busy = status(code, {"error": {"message": "busy"}}, Retry_After=0)
    with serving(busy, busy, stream(wire.events)) as server:
        assert shown(provider(server, wire).ask(asked(wire))) == PIECES
    assert len(server.heard) == 3


@every_wire
def test_the_arguments_of_a_call_are_streamed_after_its_name(wire: Wire) -> None:
    with serving(stream(wire.events)) as server:
        pieces = list(provider(server, wire).ask(asked(wire)))
    (call,) = [piece for piece in pieces if piece.kind == "call"]
    arguments = [piece for piece in pieces if piece.kind == "arguments"]
    assert (call.text, call.call_id) == ("look", "call_1")
    assert json.loads("".join(piece.text for piece in arguments)) == json.loads(ARGUMENTS)
    assert {piece.place for piece in arguments} == {call.place}


@every_wire
def test_the_events_of_a_provider_pass_as_they_are(wire: Wire) -> None:
    with serving(stream(wire.events)) as server:
        answer = provider(server, wire).ask(asked(wire))
        assert isinstance(answer, HttpAnswer)
        assert list(answer.events()) == [event for event in wire.events if isinstance(event, dict)]
    assert wire.text(answer.reply()) == TEXT


def test_a_retry_without_retry_after_waits_for_the_default_time() -> None:
    with serving(status(500, "<html>oops</html>", "text/html"), stream(CHAT.events)) as server:
        assert shown(provider(server).ask(asked())) == PIECES


@every_wire
def test_a_connection_lost_before_the_first_piece_is_retried(wire: Wire) -> None:
    with serving(drop, torn(wire.events[: wire.quiet]), stream(wire.events)) as server:
        answer = provider(server, wire).ask(asked(wire))
        assert shown(answer) == PIECES
    assert wire.text(answer.reply()) == TEXT
    assert len(server.heard) == 3


@every_wire
def test_an_overload_reported_before_the_first_piece_is_retried(wire: Wire) -> None:
    with serving(stream([*wire.events[: wire.quiet], wire.overloaded]), stream(wire.events)) as server:
        assert shown(provider(server, wire).ask(asked(wire))) == PIECES
    assert len(server.heard) == 2


@every_wire
@pytest.mark.parametrize("cut", [torn, stream], ids=["in mid-chunk", "at its end"])
def test_a_connection_lost_in_mid_stream_is_an_error_and_keeps_the_partial_reply(wire: Wire, cut: Any) -> None:
    with serving(cut(wire.events[: wire.cut])) as server:
        answer = provider(server, wire).ask(asked(wire))
        came: list[Piece] = []
        with pytest.raises(ProviderError, match=r"^mine .* What came until then is kept\.$") as caught:
            came.extend(piece for piece in answer)
    assert caught.value.kind == "cut"
    assert wire.text(answer.reply()) == TEXT
    assert len(server.heard) == 1


@every_wire
def test_an_error_in_mid_stream_is_raised_without_a_retry(wire: Wire) -> None:
    with serving(stream([*wire.events[: wire.cut], wire.overloaded])) as server:
        answer = provider(server, wire).ask(asked(wire))
        with pytest.raises(ProviderError, match=r"(?i)overloaded"):
            list(answer)
    assert wire.text(answer.reply()) == TEXT
    assert len(server.heard) == 1


@every_wire
@pytest.mark.parametrize("junk", ["{nonsense", "[1, 2]", '"words"', "[" * 100_000], ids=lambda junk: junk[:9])
def test_an_invalid_event_is_an_error_and_keeps_the_partial_reply(wire: Wire, junk: str) -> None:
    with serving(stream([*wire.events[: wire.cut], junk, *wire.events[wire.cut :]])) as server:
        answer = provider(server, wire).ask(asked(wire))
        with pytest.raises(ProviderError, match="not JSON"):
            list(answer)
    assert wire.text(answer.reply()) == TEXT


@pytest.mark.parametrize("wire", WIRES[1:], ids=lambda wire: wire.type)
def test_an_event_without_required_fields_is_an_error(wire: Wire) -> None:
    kind = "content_block_delta" if wire.type == "anthropic" else "response.output_item.added"
    with serving(stream([*wire.events[: wire.cut], {"type": kind}])) as server:
        with pytest.raises(ProviderError, match="makes no sense"):
            list(provider(server, wire).ask(asked(wire)))


def damaged(value: Any, junk: Iterator[Any]) -> Iterator[Any]:
    """The value with something else in one place, for every place."""
    places = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, inner in list(places):
        for other in (next(junk), *damaged(inner, junk)):
            copy = value.copy()
            copy[place] = other
            yield copy


@every_wire
def test_any_content_of_an_event_raises_only_provider_errors(wire: Wire) -> None:
    junk = cycle([None, 3, "x", [], {}, [1], {"a": 1}, True, -1])
    with serving() as server:
        mine = provider(server, wire)
        for number, event in enumerate(wire.events[:-1]):
            for other in damaged(event, junk):
                server.acts = [stream([*wire.events[: wire.quiet + 1], *wire.events[:number], other, wire.events[-1]])]
                answer = mine.ask(asked(wire))
                with suppress(ProviderError):
                    list(answer)
                assert isinstance(answer.reply(), dict)
                assert isinstance(answer.usage, Usage)
    assert len(server.heard) > 50


@every_wire
def test_events_split_into_single_bytes_are_read(wire: Wire) -> None:
    with serving(drip(wire.events)) as server:
        answer = provider(server, wire).ask(asked(wire))
        assert shown(answer) == PIECES
    assert wire.text(answer.reply()) == TEXT


@every_wire
def test_unknown_events_comments_and_empty_events_are_ignored(wire: Wire) -> None:
    new = {"type": "weather.changed", "to": "rain"} if wire.type != "openai" else {"choices": [], "weather": "rain"}
    with serving(stream([wire.events[0], "", new, *wire.events[1:]])) as server:
        assert shown(provider(server, wire).ask(asked(wire))) == PIECES


def test_a_stream_without_done_is_complete_if_it_has_a_finish_reason() -> None:
    with serving(stream(CHAT.events[:-1], content_type="text/plain")) as server:
        assert shown(provider(server).ask(asked())) == PIECES


def test_the_stream_ends_at_done() -> None:
    hung_up = Event()
    with serving(hold(CHAT.events, hung_up)) as server:
        assert shown(provider(server).ask(asked())) == PIECES
        assert hung_up.wait(10)


@every_wire
def test_a_response_without_streaming_is_read(wire: Wire) -> None:
    with serving(stream(wire.events)) as server:
        streamed = provider(server, wire).ask(asked(wire))
        list(streamed)
    with serving(status(200, streamed.reply())) as server:
        answer = provider(server, wire).ask(asked(wire))
        assert [piece.kind for piece in answer] == ["thinking", "text", "call", "arguments"]
    assert answer.reply() == streamed.reply()


def test_an_error_body_with_status_200_is_an_error() -> None:
    with serving(status(200, {"error": {"message": "no such model", "code": 404}})) as server:
        with pytest.raises(ProviderError, match="no such model") as caught:
            list(provider(server).ask(asked()))
    assert caught.value.kind == "not_found"


REFUSALS = [
    (401, {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}, "key"),
    (401, {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}, "key"),
    (403, {"error": "Forbidden"}, "key"),
    (404, {"error": {"message": "The model `m-1` does not exist", "code": "model_not_found"}}, "not_found"),
    (404, "404 page not found", "not_found"),
    (400, {"error": {"message": "maximum context length is 8 tokens", "code": "context_length_exceeded"}},
     "context_too_long"),
    (400, {"type": "error", "error": {"type": "invalid_request_error",
           "message": "prompt is too long: 210000 tokens > 200000 maximum"}}, "context_too_long"),
    (413, {"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}, "context_too_long"),
    (400, {"error": {"message": "Unknown parameter: 'beans'", "type": "invalid_request_error"}}, "refused"),
    (422, {"detail": [{"loc": ["body"], "msg": "bad"}]}, "refused"),
    (402, {"error": {"message": "Insufficient credits"}}, "rate_limit"),
    (429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, "rate_limit"),
    (307, "", "other"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "body", "kind"), REFUSALS)
def test_a_refusal_has_a_kind_and_a_one_line_message_and_is_not_retried(code: int, body: Any, kind: str) -> None:
    with serving(status(code, body)) as server:
        with pytest.raises(ProviderError) as caught:
            provider(server).ask(asked())
    assert (caught.value.kind, caught.value.status) == (kind, code)
    assert str(caught.value).startswith("mine ")
    assert f"({code})" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(server.heard) == 1


def test_a_failing_server_is_tried_four_times() -> None:
    with serving(status(503, "<html>\x1b[31mno</html>", "text/html", Retry_After=0)) as server:
        with pytest.raises(ProviderError, match=r"^mine is in trouble \(503\)\.$") as caught:
            provider(server).ask(asked())
    assert (caught.value.kind, caught.value.passing) == ("down", True)
    assert len(server.heard) == 4


@pytest.mark.parametrize("when", ["3600", "Fri, 31 Dec 2027 23:59:59 GMT"])
def test_a_long_retry_after_is_an_error_without_waiting(when: str) -> None:
    with serving(status(429, {"error": {"message": "later"}}, Retry_After=when)) as server:
        with pytest.raises(ProviderError, match="wants fewer requests") as caught:
            provider(server).ask(asked())
    assert (caught.value.kind, len(server.heard)) == ("rate_limit", 1)
    assert (caught.value.retry_after or 0) >= 3600


def test_a_server_can_forbid_retries() -> None:
    with serving(status(500, {}, X_Should_Retry="false")) as server:
        with pytest.raises(ProviderError):
            provider(server).ask(asked())
    assert len(server.heard) == 1


def test_a_refused_connection_on_localhost_is_not_retried() -> None:
    with serving() as gone:
        pass
    with pytest.raises(
        ProviderError, match=rf"^mine cannot be reached at {gone.address}/v1; is it running\?$"
    ) as caught:
        provider(gone).ask(asked())
    assert caught.value.kind == "down"


@pytest.mark.parametrize("address", ["nonsense", "ftp://127.0.0.1/v1", "http://127.0.0.1:port/v1"])
def test_an_invalid_address_is_an_error(address: str) -> None:
    with pytest.raises(ProviderError, match="base_url"):
        providers.find("mine:m-1", {"mine": {"base_url": address}}).ask(asked())


def test_a_silent_server_times_out() -> None:
    with serving(hold([], Event())) as server:
        answer = provider(server, timeout=0.05).ask(asked())
        with pytest.raises(ProviderError, match="silent for too long") as caught:
            list(answer)
    assert (caught.value.kind, len(server.heard)) == ("down", 1)


@every_wire
def test_closing_early_disconnects_and_keeps_the_partial_reply(wire: Wire) -> None:
    hung_up = Event()
    with serving(hold(wire.events[: wire.cut], hung_up)) as server:
        answer = provider(server, wire).ask(asked(wire))
        pieces = iter(answer)
        assert shown(next(pieces) for _ in range(3)) == PIECES[:3]
        answer.close()
        answer.close()
        assert hung_up.wait(10)
        assert list(pieces) == []
    assert wire.text(answer.reply()) == TEXT


def test_closing_wakes_the_reading_thread() -> None:
    hung_up, started = Event(), Event()
    with serving(hold(CHAT.events[: CHAT.cut], hung_up)) as server:
        answer = provider(server).ask(asked())
        came: list[Piece] = []

        def read() -> None:
            for piece in answer:
                came.append(piece)
                if len(came) == 3:
                    started.set()

        reader = Thread(target=read)
        reader.start()
        assert started.wait(10)
        answer.close()
        reader.join(10)
        assert not reader.is_alive()
        assert hung_up.wait(10)
    assert came == PIECES[:3]


def test_closing_ends_the_wait_for_a_retry() -> None:
    asked_for = Event()

    def later(connection: socket) -> None:
        status(503, {}, Retry_After=50)(connection)
        asked_for.set()

    with serving(stream(CHAT.events[:1]), later) as server:
        answer = provider(server).ask(asked())
        reader = Thread(target=lambda: list(answer))
        reader.start()
        assert asked_for.wait(10)
        answer.close()
        reader.join(10)
        assert not reader.is_alive()
    assert len(server.heard) == 2


def test_an_unread_reply_can_be_closed() -> None:
    hung_up = Event()
    with serving(hold([], hung_up)) as server:
        provider(server).ask(asked()).close()
        assert hung_up.wait(10)


def test_an_address_may_have_a_user_a_password_and_a_query() -> None:
    with serving(stream(CHAT.events)) as server:
        address = server.address.replace("//", "//ada:lovelace@") + "/v1/?api-version=7"
        list(providers.find("mine:m-1", {"mine": {"base_url": address}}).ask(asked()))
    assert server.heard[0].line == "POST /v1/chat/completions?api-version=7 HTTP/1.1"
    assert server.heard[0].headers["authorization"] == "Basic YWRhOmxvdmVsYWNl"


def test_proxies_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(stream(CHAT.events)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.address)
        mine = providers.find("mine:m-1", {"mine": {"base_url": "http://model.test/v1"}})
        assert shown(mine.ask(asked())) == PIECES
    assert proxy.heard[0].line == "POST http://model.test/v1/chat/completions HTTP/1.1"


# Servers without end -------------------------------------------------------------------------------------------------


def endless(start: bytes, piece: bytes, pause: float = 0.0) -> Any:
    def act(connection: socket) -> None:
        connection.sendall(start)
        while True:
            connection.sendall(piece)
            sleep(pause)

    return act


def test_an_endless_error_body_is_read_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "LARGEST_ERROR", 10_000)
    with serving(endless(head(400, "text/plain"), b"no " * 1000)) as server:
        with pytest.raises(ProviderError, match=r"\(400\): no no"):
            provider(server).ask(asked())


def test_an_error_body_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "LONGEST_ERROR", 0.1)
    with serving(endless(head(400, "text/plain"), b"x", pause=0.01)) as server:
        with pytest.raises(ProviderError, match="refused the request"):
            provider(server).ask(asked())


def test_a_compressed_error_body_is_not_unpacked_beyond_the_limit() -> None:
    bomb = gzip.compress(bytes(300_000_000), 1)
    with serving(
        lambda connection: connection.sendall(head(400, "text/plain", Content_Encoding="gzip") + bomb)
    ) as server:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(ProviderError):
            provider(server).ask(asked())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000  # kilobytes


@pytest.mark.parametrize("reused", [False, True], ids=["new-connection", "reused-connection"])
def test_headers_that_drip_are_given_up(monkeypatch: pytest.MonkeyPatch, reused: bool) -> None:
    monkeypatch.setattr(deadline, "LONGEST_HEADERS", 0.1)
    dripping = endless(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x", pause=0.01)
    with serving(*([answer_and_stay(dripping)] if reused else [dripping])) as server:
        asking = provider(server, timeout=0.2)
        if reused:
            list(asking.ask(asked()))
        with pytest.raises(ProviderError, match=r"did not begin to answer within 0\.3 seconds") as caught:
            asking.ask(asked())
    assert (caught.value.kind, len(server.heard)) == ("down", 1)


def answer_and_stay(then: Any) -> Any:
    """Answers on a connection that is used again, and then acts on the second request."""

    def act(connection: socket) -> None:
        body = json.dumps({"choices": [{"message": {"role": "assistant", "content": "hi"}}]}).encode()
        start = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(start.encode() + body)
        connection.recv(65536)
        then(connection)

    return act


def test_a_stream_of_nothing_but_signs_of_life_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "LONGEST_REPLY", 0.2)
    with serving(endless(head(), b": ping\n\n", pause=0.01)) as server:
        answer = provider(server).ask(asked())
        with pytest.raises(ProviderError, match=r"went on sending for more than 0\.2 seconds"):
            list(answer)


@pytest.mark.parametrize("content_type", ["text/event-stream", "application/json"])
def test_an_endless_reply_is_an_error(monkeypatch: pytest.MonkeyPatch, content_type: str) -> None:
    monkeypatch.setattr(bounded, "LARGEST_REPLY", 100_000)
    with serving(endless(head(200, content_type), b'data: {"choices": []}\n\n')) as server:
        answer = provider(server).ask(asked())
        with pytest.raises(ProviderError, match="sent more than 100,000 bytes"):
            list(answer)
