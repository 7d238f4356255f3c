"""Adapters of libraries without a suite for them, with the real library: `python -m suites.libraries NAME`."""

import asyncio
import importlib
import json
import sys
from contextlib import suppress

from tests.adapters.model import MODEL, model

import bough


def litellm(store):
    library = importlib.import_module("litellm")
    adapter = importlib.import_module("bough.adapters.litellm")
    logger = adapter.BoughLogger(store=store)
    library.callbacks = [logger]
    about = {"model": f"openai/{MODEL}", "api_key": "none", "metadata": {"session_id": "s"}, "max_retries": 0}
    dialog = [{"role": "system", "content": "Look."}, {"role": "user", "content": "How is it?"}]

    async def talk(address):
        for _ in range(2):
            reply = await library.acompletion(messages=dialog, api_base=address, **about)
            said = reply.choices[0].message.model_dump(exclude_none=True)
            dialog.append(said)
            for call in said.get("tool_calls") or ():
                dialog.append({"role": "tool", "tool_call_id": call["id"], "content": "calm"})
        await until(lambda: len(store.session("s").path()) == 4)
        dialog.append({"role": "user", "content": "And now?"})
        with suppress(library.exceptions.InternalServerError):
            await library.acompletion(messages=dialog, api_base="http://127.0.0.1:9", **about)
        await until(lambda: len(store.session("s").turns()) == 2)

    with model() as server:
        asyncio.run(talk(server.address))
        server.check()
    session = store.session("s")
    assert [node.role for node in session.path()] == ["user", "assistant", "tool_result", "assistant"]
    assert [turn.status for turn in session.turns()] == ["failed", "complete"]
    (total,) = session.usage(by="model")
    assert (total.name, total.usage.input_tokens, total.usage.output_tokens) == (MODEL, 20, 10)
    assert [hit.session for hit in store.search("calm")] == ["s"]


async def until(is_done):
    """LiteLLM calls its callbacks after it has given the reply."""
    for _ in range(200):
        if is_done():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the callback was not called")


def agent_framework(store):
    library = importlib.import_module("agent_framework")
    provider = importlib.import_module("bough.adapters.agent_framework").BoughHistoryProvider(store=store)
    content = library.Content
    dialog = [
        library.Message("user", ["How is it?"]),
        library.Message("assistant", [content.from_function_call("c", "look", arguments={"at": "sea"})]),
        library.Message("tool", [content.from_function_result("c", result="calm")]),
        library.Message("assistant", ["Calm."]),
    ]
    for message in dialog:
        asyncio.run(provider.save_messages("s", [message]))
    found = asyncio.run(provider.get_messages("s"))
    assert [message.to_dict() for message in found] == [message.to_dict() for message in dialog]
    assert [node.role for node in store.session("s").path()] == ["user", "assistant", "tool_result", "assistant"]
    store.session("t").save_turn([bough.user("From another program"), bough.assistant("Yes.")])
    assert [message.text for message in asyncio.run(provider.get_messages("t"))] == ["From another program", "Yes."]
    assert [hit.session for hit in store.search("calm")] == ["s", "s"]


def llama_index(store):
    llms = importlib.import_module("llama_index.core.llms")
    memory = importlib.import_module("llama_index.core.memory")
    chats = importlib.import_module("bough.adapters.llama_index").BoughChatStore(store=store)
    buffer = memory.ChatMemoryBuffer.from_defaults(chat_store=chats, chat_store_key="s", token_limit=3000)
    dialog = [llms.ChatMessage(role="user", content="How is it?"), llms.ChatMessage(role="assistant", content="Calm.")]
    for message in dialog:
        buffer.put(message)
    assert buffer.get_all() == dialog
    assert chats.get_keys() == ["s"]
    again = [dialog[0], llms.ChatMessage(role="assistant", content="Rough.")]
    chats.set_messages("s", again)
    assert chats.get_messages("s") == again
    assert len(store.children(store.session("s").path()[0].id)) == 2
    assert chats.delete_last_message("s") == again[1]
    assert chats.delete_message("s", 0) == dialog[0]
    assert chats.get_messages("s") == []
    store.session("t").save_turn([bough.user("From another program"), bough.assistant("Yes.")])
    assert [message.content for message in chats.get_messages("t")] == ["From another program", "Yes."]


if __name__ == "__main__":
    failed = []
    with bough.connect(":memory:") as store:
        try:
            globals()[sys.argv[1]](store)
            assert store.verify() == []
        except Exception as error:
            failed.append(f"{type(error).__name__}: {error}")
    print(json.dumps({"passed": 1 - len(failed), "failed": failed}))
