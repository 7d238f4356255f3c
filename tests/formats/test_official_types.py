"""The official SDKs agree: their objects are read like the JSON they came from, and what we write fits their types."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

import pytest
from hypothesis import given, settings

from bough import formats
from bough.model import Json, Message
from tests.formats.format_corpus import golden, one
from tests.formats.format_dialogs import dialogs, flat

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what an SDK deprecates on import is not ours to mend
    import anthropic.types
    import openai.types.chat
    import openai.types.responses
    from anthropic._models import construct_type as construct_anthropic
    from botocore.loaders import Loader  # type: ignore[import-untyped]
    from botocore.model import ServiceModel  # type: ignore[import-untyped]
    from botocore.validate import ParamValidator  # type: ignore[import-untyped]
    from google.genai import types as genai
    from openai._models import construct_type as construct_openai
    from pydantic import TypeAdapter, ValidationError


def sdk_reply(name: str, reply: Json) -> Any:
    """The object that the SDK's client would return for this JSON."""
    match name:
        case "openai.chat":
            return construct_openai(value=reply, type_=openai.types.chat.ChatCompletion)
        case "openai.responses":
            return construct_openai(value=reply, type_=openai.types.responses.Response)
        case "anthropic":
            return construct_anthropic(value=reply, type_=anthropic.types.Message)
    return genai.GenerateContentResponse.model_validate(reply)


TYPED = ("openai.chat", "openai.responses", "anthropic", "gemini")


@pytest.mark.parametrize(("name", "reply"), golden("reply", *TYPED))
def test_an_sdks_reply_is_read_like_its_json(name: str, reply: Json) -> None:
    format_ = formats.get(name)
    typed = sdk_reply(name, reply)
    assert not isinstance(typed, dict)
    assert formats.detect(typed) == name
    assert format_.decode(typed) == format_.decode(reply)


@pytest.mark.parametrize("name", ["openai.chat", "openai.responses", "anthropic"])
def test_an_sdks_reply_tells_its_request_id(name: str) -> None:
    typed = sdk_reply(name, golden("reply", name)[0][1])
    typed._request_id = "req_1"
    assert formats.get(name).decode(typed).provenance.request_id == "req_1"


@pytest.mark.parametrize(("name", "stream"), golden("stream", *TYPED))
def test_an_sdks_events_are_accumulated_like_their_json(name: str, stream: Json) -> None:
    events: dict[str, Any] = {
        "openai.chat": lambda event: construct_openai(value=event, type_=openai.types.chat.ChatCompletionChunk),
        "openai.responses": lambda event: construct_openai(
            value=event, type_=openai.types.responses.ResponseStreamEvent
        ),
        "anthropic": lambda event: construct_anthropic(value=event, type_=anthropic.types.RawMessageStreamEvent),
        "gemini": genai.GenerateContentResponse.model_validate,
    }
    accumulator = formats.get(name).accumulator()
    for event in stream["events"]:
        accumulator.feed(events[name](event))
    assert accumulator.reply() == stream["reply"]


@cache
def adapter(name: str) -> TypeAdapter[Any]:
    kinds: dict[str, Any] = {
        "openai.chat": openai.types.chat.ChatCompletionMessageParam,
        "openai.responses": openai.types.responses.ResponseInputItemParam,
        "anthropic": anthropic.types.MessageParam,
        "gemini": genai.Content,
    }
    return TypeAdapter(kinds[name])


def consume(value: Any) -> None:
    """The SDKs say Iterable, which pydantic checks only while it is walked."""
    if isinstance(value, dict):
        for item in value.values():
            consume(item)
    elif isinstance(value, (list, tuple)) or (isinstance(value, Iterator) and not isinstance(value, (str, bytes))):
        for item in value:
            consume(item)


@cache
def converse(kind: str) -> Any:
    model = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"))
    operation = model.operation_model("Converse")
    return operation.input_shape if kind == "request" else operation.output_shape


def complaints(name: str, payload: list[Json]) -> list[str]:
    """What the provider's own types say against a request's list."""
    if name == "bedrock":
        report = ParamValidator().validate({"modelId": "m", "messages": payload}, converse("request"))
        return [report.generate_report()] if report.has_errors() else []
    found = []
    for item in payload:
        try:
            consume(adapter(name).validate_python(item))
        except ValidationError as error:
            found.append(f"{item}: {error}")
    return found


@pytest.mark.parametrize("name", [*TYPED, "bedrock"])
@given(dialog=dialogs)
@settings(max_examples=25, deadline=None)
def test_what_we_write_fits_the_official_types(name: str, dialog: list[list[Message]]) -> None:
    assert complaints(name, formats.get(name).encode(flat(dialog)).payload) == []


def test_the_official_types_do_complain() -> None:
    """Or the test above could not fail."""
    assert complaints("openai.chat", [{"role": "tool", "content": "x"}])
    assert complaints("openai.responses", [{"type": "function_call", "name": 1}])
    assert complaints("anthropic", [{"role": "user", "content": [{"type": "tool_result"}]}])
    assert complaints("gemini", [{"role": "user", "parts": [{"telepathy": 1}]}])
    assert complaints("bedrock", [{"role": "user", "content": [{"toolResult": {"content": []}}]}])


def test_every_output_item_of_responses_is_in_the_corpus() -> None:
    variants = get_args(get_args(openai.types.responses.ResponseOutputItem)[0])
    official = {kind for variant in variants for kind in get_args(variant.model_fields["type"].annotation)}
    ours = {item["type"] for item in one("openai.responses", "reply-every-item")["output"]}
    assert len(official) == 28
    assert ours - official == {"telepathy_call"}
    assert official <= ours


def known(content: list[Json]) -> list[Json]:
    return [block for block in content if not block.keys() & {"telepathy"}]


def test_the_golden_bedrock_files_are_what_the_service_model_says() -> None:
    messages = [
        {"role": message["role"], "content": known(message["content"])}
        for message in one("bedrock", "request-every-block")
    ]
    assert complaints("bedrock", messages[:-1]) == []
    reply = one("bedrock", "reply-tool")
    reply.pop("ResponseMetadata")
    assert not ParamValidator().validate(reply, converse("reply")).has_errors()


def test_boto3s_bytes_come_back_as_bytes() -> None:
    image = {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}}
    sealed = {"reasoningContent": {"redactedContent": b"\x00\xff"}}
    payload = [{"role": "user", "content": [{"text": "hi"}, image]}, {"role": "assistant", "content": [sealed]}]
    format_ = formats.get("bedrock")
    decoded = format_.decode(payload)
    assert getattr(decoded.messages[0].blocks[1], "data", None) == b"\x89PNG"
    assert decoded.messages[0].blocks[1].raw["bedrock"]["image"]["source"]["bytes"] == {
        "$bytes": base64.b64encode(b"\x89PNG").decode()
    }
    assert format_.encode(decoded.messages, strict=True).payload == payload
