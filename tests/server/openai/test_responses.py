"""Responses, as the official client sees them."""

from __future__ import annotations

import json
import time
from typing import Any

import openai
import pytest
from openresponses_types import ResponseResource

from tests.server.serving import Serving


def valid(client: openai.OpenAI, id: str) -> dict[str, Any]:
    """The stored response as JSON, which Open Responses' schema accepts."""
    text = client.responses.with_raw_response.retrieve(id).text
    ResponseResource.model_validate_json(text)
    return json.loads(text)  # type: ignore[no-any-return]


def test_a_response_is_stored_with_every_key_and_comes_back_as_it_was(client: openai.OpenAI) -> None:
    made = client.responses.create(input="hi", metadata={"a": "b"}, instructions="Be brief.", temperature=0.5)
    assert (made.status, made.output_text, made.temperature) == ("completed", "one", 0.5)
    assert valid(client, made.id) == json.loads(made.to_json(exclude_unset=True)) | {"created_at": int(made.created_at),
        "completed_at": int(made.completed_at or 0)}  # fmt: skip


def test_a_previous_response_may_be_continued_as_often_as_one_likes(client: openai.OpenAI) -> None:
    first = client.responses.create(input="hi")
    second = client.responses.create(input="and?", previous_response_id=first.id)
    other = client.responses.create(input="or?", previous_response_id=first.id)
    third = client.responses.create(input="so?", previous_response_id=second.id)
    assert [second.output_text, other.output_text, third.output_text] == ["two", "two", "three"]
    assert texts(client, third.id) == ["hi", "one", "and?", "two", "so?"]
    assert texts(client, other.id) == ["hi", "one", "or?"]


def texts(client: openai.OpenAI, id: str) -> list[str]:
    page = client.responses.input_items.list(id, order="asc", limit=2)  # in pages of two
    return [part.text for item in page for part in getattr(item, "content", ())]


def test_a_chain_is_one_session_and_a_fork_another(api: Serving, client: openai.OpenAI) -> None:
    first = client.responses.create(input="hi")
    client.responses.create(input="and?", previous_response_id=first.id)
    other = client.responses.create(input="or?", previous_response_id=first.id)
    import bough

    with bough.connect(str(api.db)) as store:
        chain, fork = (store.session(f"openai:{made.id}") for made in (first, other))
        assert (chain.info.channel, len(chain.path()), len(fork.path())) == ("openai", 4, 4)
        assert chain.path()[1].id == fork.path()[1].id


def test_any_message_of_the_store_can_be_continued(api: Serving, client: openai.OpenAI) -> None:
    import bough

    with bough.connect(str(api.db)) as store:
        ids = store.session("cli:any").save_turn([bough.user("Who?"), bough.assistant("Ada.")])
        made = client.responses.create(input="And she?", previous_response_id=ids[-1])
        assert (made.output_text, texts(client, made.id)) == ("two", ["Who?", "Ada.", "And she?"])
        assert len(store.session("cli:any").path()) == 2


def test_a_stream_has_every_event_in_the_order_that_the_helper_requires(client: openai.OpenAI) -> None:
    with client.responses.stream(model="tools", input="look") as stream:
        events = list(stream)
        final = stream.get_final_response()
    assert [item.type for item in final.output] == ["reasoning", "message", "function_call"]
    plain = list(client.responses.create(model="tools", input="look", stream=True))
    assert [event.sequence_number for event in plain] == list(range(len(plain)))
    kinds = [event.type for event in plain]
    assert kinds[:3] == ["response.created", "response.in_progress", "response.output_item.added"]
    assert kinds[-1] == events[-1].type == "response.completed"
    assert kinds.count("response.output_item.added") == kinds.count("response.output_item.done") == 3
    assert "".join(e.delta for e in plain if e.type == "response.reasoning_text.delta") == "hm, the sea"
    assert "".join(e.delta for e in plain if e.type == "response.output_text.delta") == "I look."
    assert "".join(e.delta for e in plain if e.type == "response.function_call_arguments.delta") == '{"at": "sea"}'
    stored = valid(client, final.id)
    assert [item["id"] for item in stored["output"]] == [item.to_dict()["id"] for item in final.output]
    assert stored["usage"]["total_tokens"] == 8


def test_a_tool_loop_goes_on_with_the_output_alone(client: openai.OpenAI) -> None:
    called = client.responses.create(model="tools", input="look")
    call = called.output[-1]
    assert call.type == "function_call"
    output: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "blue"}
    done = client.responses.create(model="tools", input=[output], previous_response_id=called.id)
    assert done.output_text == "It is blue."
    assert [item.type for item in client.responses.input_items.list(done.id, order="asc")] == [
        "message", "reasoning", "message", "function_call", "function_call_output",
    ]  # fmt: skip


def test_a_client_that_keeps_the_dialog_itself_stores_it_once(api: Serving, client: openai.OpenAI) -> None:
    first = client.responses.create(input=[{"role": "user", "content": "full 1"}])
    dialog: list[Any] = [{"role": "user", "content": "full 1"}, *[item.to_dict() for item in first.output]]
    second = client.responses.create(input=[*dialog, {"role": "user", "content": "full 2"}])
    assert texts(client, second.id) == ["full 1", "one", "full 2"]
    import bough

    with bough.connect(str(api.db)) as store:
        found = store.find_external("openai.response", first.id)
        assert found is not None
        assert next(node.id for node in store.session(f"openai:{first.id}").path()) == found
        assert sum(node.message.text == "full 1" for node in store.list_messages()) == 1


def test_nothing_is_kept_of_a_response_with_store_false(api: Serving, client: openai.OpenAI) -> None:
    conversation = client.conversations.create(items=[{"type": "message", "role": "user", "content": "kept"}])
    made = client.responses.create(input="secret word zebra", store=False, conversation=conversation.id)
    assert made.output_text == "one"
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(made.id)
    assert len(list(client.conversations.items.list(conversation.id))) == 1
    import bough

    with bough.connect(str(api.db)) as store:
        assert not list(store.search("zebra"))


def test_reasoning_goes_around_through_a_client_that_stores_nothing_here(client: openai.OpenAI) -> None:
    made = client.responses.create(model="tools", input="look", store=False, include=["reasoning.encrypted_content"])
    assert made.output[0].type == "reasoning"
    assert (made.output[0].encrypted_content or "").startswith("bough:")
    again: list[Any] = [{"role": "user", "content": "look"}, *[item.to_dict(warnings=False) for item in made.output],
                        {"type": "function_call_output", "call_id": made.output[-1].to_dict()["call_id"],
                         "output": "blue"}]  # fmt: skip
    assert client.responses.create(model="tools", input=again, store=False).output_text == "It is blue."


def test_a_background_response_is_written_without_its_client(client: openai.OpenAI) -> None:
    made = client.responses.create(model="slow", input="go", background=True)
    assert made.status == "queued"
    while (now := client.responses.retrieve(made.id)).status in ("queued", "in_progress"):
        time.sleep(0.05)
    assert (now.status, now.output_text) == ("completed", "a b c d e f g h i j")
    valid(client, made.id)


def test_a_cancelled_response_keeps_what_had_come(client: openai.OpenAI) -> None:
    made = client.responses.create(model="slow", input="go", background=True)
    time.sleep(0.35)
    cancelled = client.responses.cancel(made.id)
    assert cancelled.status == "cancelled"
    assert cancelled.output_text.startswith("a ")
    assert client.responses.cancel(made.id).status == "cancelled"
    assert client.responses.create(input="on", previous_response_id=made.id).status == "completed"
    with pytest.raises(openai.BadRequestError, match="background"):
        client.responses.cancel(client.responses.create(input="hi").id)


def test_a_stream_is_taken_up_after_any_event_while_it_is_written_and_later(client: openai.OpenAI) -> None:
    stream = client.responses.create(model="slow", input="go", background=True, stream=True)
    came = [next(iter(stream)) for _ in range(5)]
    stream.close()
    id = came[0].to_dict()["response"]["id"]  # type: ignore[index]
    rest = list(client.responses.retrieve(id, stream=True, starting_after=came[-1].sequence_number))
    whole = list(client.responses.retrieve(id, stream=True))
    assert [event.to_dict() for event in (*came, *rest)] == [event.to_dict() for event in whole]
    assert whole[-1].type == "response.completed"
    assert [e.to_dict() for e in client.responses.retrieve(id, stream=True, starting_after=3)] == [
        e.to_dict() for e in whole[4:]
    ]


def test_a_deleted_response_is_gone_and_what_is_built_on_it_stays(client: openai.OpenAI) -> None:
    first = client.responses.create(input="hi")
    second = client.responses.create(input="and?", previous_response_id=first.id)
    client.responses.delete(first.id)
    for gone in (lambda: client.responses.retrieve(first.id), lambda: client.responses.delete(first.id)):
        with pytest.raises(openai.NotFoundError):
            gone()
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(input="x", previous_response_id=first.id)
    assert (caught.value.code, caught.value.param) == ("previous_response_not_found", "previous_response_id")
    assert texts(client, second.id) == ["hi", "one", "and?"]
    client.responses.delete(second.id)


def test_an_error_of_the_provider_is_that_of_the_request(client: openai.OpenAI) -> None:
    for stream in (False, True):
        with pytest.raises(openai.RateLimitError, match="too many") as caught:
            client.responses.create(model="broken", input="hi", stream=stream)
        assert caught.value.request_id
    made = client.responses.create(model="broken", input="hi", background=True)
    while (now := client.responses.retrieve(made.id)).status in ("queued", "in_progress"):
        time.sleep(0.05)
    assert now.error is not None
    assert (now.status, now.error.code) == ("failed", "rate_limit_exceeded")
    valid(client, made.id)
    with pytest.raises(openai.BadRequestError, match="cannot be continued"):
        client.responses.create(input="x", previous_response_id=made.id)


def test_a_reply_that_is_cut_off_is_a_failed_response(client: openai.OpenAI) -> None:
    events = list(client.responses.create(model="cut", input="hi", stream=True))
    assert events[-1].type == "response.failed"
    assert client.responses.retrieve(events[-1].response.id).status == "failed"


@pytest.mark.parametrize(("body", "param", "code"), [
    ({}, "input", "missing_required_parameter"),
    ({"input": 5}, "input", "invalid_type"),
    ({"input": ["x"]}, "input[0]", "invalid_type"),
    ({"input": [{}]}, "input[0]", "missing_required_parameter"),
    ({"input": [{"role": "nobody", "content": "x"}]}, "input", "invalid_value"),
    ({"input": "x", "previous_response_id": "a", "conversation": "b"}, "previous_response_id",
     "mutually_exclusive_parameters"),
    ({"input": "x", "previous_response_id": "resp_none"}, "previous_response_id", "previous_response_not_found"),
    ({"input": "x", "background": True, "store": False}, "store", "invalid_value"),
    ({"input": "x", "metadata": {str(n): "" for n in range(17)}}, "metadata", "invalid_value"),
    ({"input": "x", "metadata": {"k": "v" * 513}}, "metadata", "invalid_value"),
    ({"input": "x", "truncation": "maybe"}, "truncation", "invalid_value"),
    ({"input": "x", "temperature": "hot"}, "temperature", "invalid_type"),
    ({"input": "x", "max_output_tokens": 0}, "max_output_tokens", "invalid_value"),
    ({"input": [{"type": "item_reference", "id": "msg_none"}]}, "input", "item_not_found"),
])  # fmt: skip
def test_a_bad_request_says_which_parameter_is_wrong(api: Serving, body: dict[str, Any], param: str, code: str) -> None:
    with api.client() as http:
        answer = http.post("/v1/responses", json=body)
    assert answer.status_code == 400
    assert answer.headers["x-request-id"].startswith("req_")
    error = answer.json()["error"]
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", param, code)
    assert error["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"[" * 100_000])
def test_a_body_that_is_no_object_is_refused(api: Serving, body: bytes) -> None:
    with api.client() as http:
        assert http.post("/v1/responses", content=body).status_code == 400


def test_references_to_items_are_resolved(client: openai.OpenAI) -> None:
    first = client.responses.create(input="hi")
    reference: Any = {"type": "item_reference", "id": first.output[0].id}
    question: Any = {"role": "user", "content": "and?"}
    second = client.responses.create(input=[question, reference], previous_response_id=first.id)
    assert texts(client, second.id) == ["hi", "one", "and?"]
    third = client.responses.create(input=[question, reference, question])
    assert texts(client, third.id) == ["and?", "one", "and?"]


def test_a_compacted_dialog_goes_on_with_its_summary(client: openai.OpenAI) -> None:
    made = client.responses.compact(model="m", input="a long story about oaks")
    assert [item.type for item in made.output] == ["message", "compaction"]
    again: Any = [item.to_dict(warnings=False) for item in made.output]
    asked = client.responses.create(input=[*again, {"role": "user", "content": "so?"}])
    assert any("summed up" in text for text in texts(client, asked.id))


def test_tokens_of_an_input_are_estimated(client: openai.OpenAI) -> None:
    small = client.responses.input_tokens.count(model="m", input="hello")
    large = client.responses.input_tokens.count(model="m", input="hello " * 100, instructions="x" * 100)
    assert 0 < small.input_tokens < large.input_tokens


@pytest.mark.parametrize("text", ["\ud800 half a character", "a NUL \x00 inside", "🌊" * 10_000])
def test_any_text_comes_back(api: Serving, text: str) -> None:
    with api.client() as http:
        made = http.post("/v1/responses", content=json.dumps({"input": text, "metadata": {"t": text[:9]}}).encode())
        assert made.status_code == 200, made.text
        assert made.json()["metadata"] == {"t": text[:9]}
        items = http.get(f"/v1/responses/{made.json()['id']}/input_items").json()["data"]
        assert items[0]["content"] == [{"type": "input_text", "text": text}]


@pytest.mark.parametrize("path", [
    "/v1/responses/resp_%00", "/v1/conversations/a%00:b", "/v1/conversations/%F0%9F%8C%8A", "/v1/chat/completions/%00",
    "/v1/conversations/conv_x/items/%00", "/v1/models/%00",
])  # fmt: skip
def test_an_id_of_any_shape_is_only_not_found(api: Serving, path: str) -> None:
    with api.client() as http:
        assert http.get(path).status_code == 404


@pytest.mark.parametrize("body", [
    {"input": "x", "tools": [1]}, {"input": "x", "text": {"format": 5}}, {"input": "x", "include": [5]},
    {"input": "x", "conversation": {"id": 5}}, {"input": "x", "metadata": {"a": 1}}, {"input": "x", "stream": "yes"},
])  # fmt: skip
def test_a_parameter_of_a_wrong_type_is_refused(api: Serving, body: dict[str, Any]) -> None:
    with api.client() as http:
        answer = http.post("/v1/responses", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_type")
