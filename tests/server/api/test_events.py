"""One stream has every change of every process once, and says so when it cannot."""

from __future__ import annotations

import httpx2
import pytest

import bough
from bough.server.access import tokens
from tests.server.api.sse import following, until
from tests.server.serving import Serving


def test_what_another_process_writes_arrives_with_its_place(http: httpx2.Client, store: bough.Store) -> None:
    with following(http) as events:
        (ready,) = until(events, "ready")
        assert int(ready.id or -1) == ready.data["cursor"] == store.cursor()
        session = store.session("cli:live")
        ids = session.save_turn([bough.user("hi"), bough.assistant("yo")])
        created, added = until(events, "message.added")
    assert (created.event, created.data["session"]) == ("session.created", "cli:live")
    assert {"message": ids[1], "parent": ids[0], "role": "assistant", "turn": ids[0]}.items() <= added.data.items()
    assert int(added.id or 0) == store.cursor()


def test_a_client_that_comes_back_gets_what_it_missed_and_nothing_twice(
    http: httpx2.Client, store: bough.Store
) -> None:
    session = store.session("cli:back")
    seen = store.cursor()
    ids = [store.save_messages([bough.Save(bough.user(str(n)))])[0] for n in range(7)]
    with following(http, headers={"Last-Event-ID": str(seen)}) as events:
        missed = until(events, "ready")[:-1]
        session.update(title="now")
        now = until(events, "session.updated")
    assert [event.data["message"] for event in missed] == ids
    assert [int(event.id or 0) for event in (*missed, *now)] == list(range(seen + 1, seen + 9))


def test_a_turn_is_followed_from_its_opening_to_its_end(http: httpx2.Client, store: bough.Store) -> None:
    with following(http, params={"session": "cli:turn"}) as events:
        until(events, "ready")
        with store.session("cli:turn").turn("how tall?") as turn:
            turn.sketch("as tall")
            store.session("cli:other").save_turn(["not", "here"])
            sketched = until(events, "turn.sketch")[-1]
            turn.add(bough.assistant("as tall as a tree"))
        done = until(events, "turn.done")
        with pytest.raises(ValueError), store.session("cli:turn").turn("and?"):
            raise ValueError("no")
        failed = until(events, "turn.failed")[-1]
    assert sketched.data["turn"] == turn.id
    assert sketched.data["blocks"] == [{"type": "text", "text": "as tall"}]
    assert {event.data["session"] for event in done} == {"cli:turn"}
    assert (done[-1].data["status"], failed.data["status"], failed.data["error"]) == (
        "complete", "failed", "ValueError: no")  # fmt: skip


def test_a_cursor_of_another_store_is_a_reset(http: httpx2.Client, store: bough.Store) -> None:
    with following(http, headers={"Last-Event-ID": "999999999"}) as events:
        reset, ready = until(events, "ready")
    assert reset.event == "reset"
    assert reset.data["cursor"] == ready.data["cursor"] == store.cursor()


def test_what_is_no_cursor_is_refused(http: httpx2.Client) -> None:
    answer = http.get("/api/v1/events", headers={"Last-Event-ID": "x"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-parameter")
    assert http.get("/api/v1/events?sesion=x").json()["param"] == "sesion"


def test_many_followers_get_the_same(api: Serving, http: httpx2.Client, store: bough.Store) -> None:
    with following(http) as one, api.client() as client, following(client) as other:
        until(one, "ready"), until(other, "ready")
        store.session("cli:many")
        assert until(one, "session.created") == until(other, "session.created")


def test_the_server_stops_while_somebody_follows(api: Serving, tmp_path_factory: pytest.TempPathFactory) -> None:
    from tests.server.serving import serving

    with serving(tmp_path_factory.mktemp("stop")) as server, server.client() as client, following(client) as events:
        until(events, "ready")
        assert server.stop() == 0
        assert list(events) == []


def test_a_stream_needs_a_token_that_may_read(api: Serving, store: bough.Store) -> None:
    _, token = tokens.create(store, "writer", ["write"])
    with api.client(token) as client:
        assert client.get("/api/v1/events").status_code == 403


def test_the_words_of_a_response_to_an_openai_client_come_too(http: httpx2.Client, api: Serving) -> None:
    with following(http) as events, api.client() as client:
        until(events, "ready")
        assert client.post("/v1/responses", json={"model": "slow", "input": "go"}).status_code == 200
        seen = until(events, "turn.done")
    deltas = [event.data for event in seen if event.event == "turn.delta"]
    assert "".join(piece["text"] for piece in deltas) == "a b c d e f g h i j"
    assert {piece["turn"] for piece in deltas} == {seen[-1].data["turn"]}
