"""Asking over HTTP: each turn is streamed, stored, and can be followed, stopped, repeated and resumed."""

from __future__ import annotations

import threading
from typing import Any

import httpx2
import pytest

import bough
from tests.server.api.sse import Sent, following, read, until
from tests.server.serving import Serving


def ask(http: httpx2.Client, **body: Any) -> list[Sent]:
    """The events of a turn."""
    headers = body.pop("headers", {})
    with http.stream("POST", "/api/v1/turns", json=body, headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        return list(read(answer.iter_lines()))


def texts(store: bough.Store, key: str) -> list[str]:
    return [node.message.text for node in store.session(key).path()]


def test_a_question_is_answered_as_a_stream_and_stored(http: httpx2.Client, store: bough.Store) -> None:
    events = ask(http, session="cli:one", input="hi", title="First")
    assert events[0].event == "turn.started"
    assert [int(event.id or 0) for event in events] == list(range(1, len(events) + 1))
    said = "".join(event.data["text"] for event in events if event.event == "turn.delta")
    (end,) = [event.data for event in events if event.event == "end"]
    assert (said, end["turns"][0]["status"], end["turns"][0]["text"]) == ("one", "complete", "one")
    assert end["head"] == store.session("cli:one").head
    assert texts(store, "cli:one") == ["hi", "one"]
    assert store.session("cli:one").info.title == "First"


def test_an_edited_question_is_a_branch_of_the_same_session(http: httpx2.Client, store: bough.Store) -> None:
    ask(http, session="cli:edit", input="hi")
    ask(http, session="cli:edit", input="and?")
    first = store.session("cli:edit").path()[1].id
    ask(http, session="cli:edit", at=first, input="or?")
    assert texts(store, "cli:edit") == ["hi", "one", "or?", "two"]
    assert len(store.session("cli:edit").branches()) == 2
    ask(http, session="cli:edit", at=None, input="anew")
    assert texts(store, "cli:edit") == ["anew", "one"]


def test_a_question_at_a_message_without_a_session_is_a_fork(http: httpx2.Client, store: bough.Store) -> None:
    ids = store.session("cli:imported").save_turn(
        [
            "hi",
            "one",
        ]
    )
    store.session("cli:imported").save_turn(["more", "words"])
    end = ask(http, at=ids[1], input="and?")[-1].data
    assert end["session"].startswith("api:")
    assert texts(store, end["session"]) == ["hi", "one", "and?", "two"]
    assert texts(store, "cli:imported")[2:] == ["more", "words"]


def test_a_question_is_answered_again_by_several_models_at_once(http: httpx2.Client, store: bough.Store) -> None:
    (question, _) = store.session("cli:again").save_turn(["hi", "first answer"])
    events = ask(http, session="cli:again", at=question, models=["m", "slow", "broken"])
    end = events[-1].data
    assert {turn["index"]: turn["status"] for turn in end["turns"]} == {0: "complete", 1: "complete", 2: "failed"}
    assert {event.data["index"] for event in events if event.event == "turn.delta"} == {0, 1}
    answers = {node.message.text for node in store.children(question)}
    assert answers >= {"first answer", "one", "a b c d e f g h i j"}
    assert texts(store, "cli:again") == ["hi", "one"]


def test_everybody_who_follows_the_store_sees_the_words_come(http: httpx2.Client, api: Serving) -> None:
    with following(http, params={"session": "cli:seen"}) as events, api.client() as asking:
        until(events, "ready")
        thread = threading.Thread(target=ask, args=(asking,), kwargs={"session": "cli:seen", "input": "hi"})
        thread.start()
        seen = until(events, "turn.done")
        thread.join()
    assert "".join(event.data["text"] for event in seen if event.event == "turn.delta") == "one"
    assert [event.id for event in seen if event.event == "turn.delta"] == [None]


def test_a_turn_that_is_cancelled_keeps_what_came(http: httpx2.Client, api: Serving, store: bough.Store) -> None:
    made = http.post("/api/v1/turns", json={"session": "cli:stop", "input": "go", "model": "slow", "stream": False,
                                            "background": True})  # fmt: skip
    assert made.status_code == 202
    (turn,) = made.json()["turns"]
    with following(http, f"/api/v1/turns/{turn}/events") as events, api.client() as other:
        until(events, "turn.delta")
        assert other.post(f"/api/v1/turns/{turn}/cancel").json() == {"turn": turn, "status": "stopped"}
        assert list(events)[-1].event == "end"
    assert http.get(f"/api/v1/turns/{turn}").json()["status"] == "stopped"
    assert 0 < len(texts(store, "cli:stop")[1]) < len("a b c d e f g h i j")
    assert http.post(f"/api/v1/turns/{turn}/cancel").json()["code"] == "turn-ended"


def test_the_events_of_a_turn_can_be_read_from_any_on(http: httpx2.Client) -> None:
    turn = http.post("/api/v1/turns", json={"input": "go", "model": "slow", "stream": False, "background": True}
                     ).json()["turns"][0]  # fmt: skip
    with following(http, f"/api/v1/turns/{turn}/events") as events:
        whole = list(events)
    assert (whole[0].event, whole[-1].event) == ("turn.started", "end")
    with following(http, f"/api/v1/turns/{turn}/events", headers={"Last-Event-ID": "3"}) as events:
        assert list(events) == whole[3:]


def test_a_turn_of_another_process_is_followed_to_its_end(http: httpx2.Client, store: bough.Store) -> None:
    with store.session("cli:far").turn("how?") as turn:
        turn.sketch("like th")
        with following(http, f"/api/v1/turns/{turn.id}/events") as events:
            assert next(events).data["blocks"][0]["text"] == "like th"
            turn.add(bough.assistant("like this"))
            turn.complete()
            assert list(events)[-1].data["status"] == "complete"


def test_a_client_that_goes_away_interrupts_its_turn_which_can_be_resumed(
    http: httpx2.Client, api: Serving, store: bough.Store
) -> None:
    with api.client() as client:
        with client.stream(
            "POST", "/api/v1/turns", json={"session": "cli:gone", "input": "go", "model": "slow"}
        ) as one:
            events = read(one.iter_lines())
            turn = until(events, "turn.started")[-1].data["turn"]
            until(events, "turn.delta")
    with following(http, f"/api/v1/turns/{turn}/events") as followed:
        last = [event for event in followed if event.event.startswith("turn.")][-1]
    assert (last.event, last.data["status"]) == ("turn.failed", "interrupted")
    with http.stream("POST", f"/api/v1/turns/{turn}/resume", json={"model": "m"}) as answer:
        end = list(read(answer.iter_lines()))[-1].data
    assert end["turns"][0]["status"] == "complete"
    assert texts(store, "cli:gone")[0] == "go"


def test_a_repeated_request_adds_nothing(http: httpx2.Client, store: bough.Store) -> None:
    key = {"Idempotency-Key": "once"}
    one = ask(http, input="hi", headers=key)[-1].data
    two = ask(http, input="hi", headers=key)[-1].data
    assert (one["session"], one["turns"][0]["turn"]) == (two["session"], two["turns"][0]["turn"])
    assert texts(store, one["session"]) == ["hi", "one"]
    other = http.post("/api/v1/turns", json={"input": "ho"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (409, "conflict")


def test_a_repeated_fork_is_the_same_fork(http: httpx2.Client, store: bough.Store) -> None:
    ids = store.session("cli:forked").save_turn(["hi", "one"])
    store.session("cli:forked").save_turn(["more", "words"])
    made = {ask(http, at=ids[1], input="and?", headers={"Idempotency-Key": "f"})[-1].data["session"] for _ in "ab"}
    assert len(made) == 1
    assert texts(store, made.pop()) == ["hi", "one", "and?", "two"]


def test_a_busy_session_says_so_at_once(http: httpx2.Client, store: bough.Store) -> None:
    with store.session("cli:busy").turn("hm") as turn:
        answer = http.post("/api/v1/turns", json={"session": "cli:busy", "input": "hi"})
        turn.add(bough.assistant("done"))
    assert (answer.status_code, answer.json()["code"], answer.json()["retryable"]) == (409, "session-busy", True)
    assert answer.headers["retry-after"]


def test_an_error_of_the_model_ends_the_stream_with_a_failed_turn(http: httpx2.Client) -> None:
    end = ask(http, session="cli:broken", input="hi", model="broken")[-1].data
    assert (end["turns"][0]["status"], end["turns"][0]["code"]) == ("failed", "provider-rate-limit")


@pytest.mark.parametrize(("body", "param"), [
    ({}, "input"), ({"input": 3}, "input"), ({"input": "x", "model": "m", "models": ["m"]}, "models"),
    ({"input": "x", "sesion": "y"}, "sesion"), ({"input": "x", "stream": "no"}, "stream"), ([], "body"),
])  # fmt: skip
def test_a_wrong_request_is_refused_before_anything_is_done(http: httpx2.Client, body: Any, param: str) -> None:
    answer = http.post("/api/v1/turns", json=body)
    assert (answer.status_code, answer.json()["param"]) == (400, param), answer.text


def test_an_unknown_message_is_not_found(http: httpx2.Client) -> None:
    answer = http.post("/api/v1/turns", json={"at": "zzzzzz", "input": "x"})
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
