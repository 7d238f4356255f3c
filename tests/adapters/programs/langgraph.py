"""LangGraph: a model and its tools as two nodes."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage, convert_to_openai_messages
from langgraph.graph import END, START, MessagesState, StateGraph
from openai import OpenAI

from bough.adapters.langgraph import BoughSaver
from tests.adapters.programs import look

TOOL = {
    "type": "function",
    "function": {
        "name": "look",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    },
}


def ask(where: str, url: str, key: str, question: str) -> str:
    with OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        with BoughSaver.from_conn_string(where) as saver:
            graph = graph_of(client).compile(checkpointer=saver)
            config = {"configurable": {"thread_id": key}}
            if graph.get_state(config).next:
                graph.invoke(None, config, durability="sync")  # what a dead process did not finish
            state = graph.invoke({"messages": [("user", question)]}, config, durability="sync")
            return str(state["messages"][-1].content)


def graph_of(client: Any) -> Any:
    def model(state: Any) -> Any:
        wire = convert_to_openai_messages(state["messages"])
        reply = client.chat.completions.create(model="gpt-5-mini", messages=wire, tools=[TOOL])
        said = reply.choices[0].message
        calls = [
            {"id": call.id, "name": call.function.name, "args": json.loads(call.function.arguments)}
            for call in said.tool_calls or []
        ]
        used = reply.usage
        counts = {
            "input_tokens": used.prompt_tokens,
            "output_tokens": used.completion_tokens,
            "total_tokens": used.total_tokens,
        }
        about = {"model_name": reply.model, "model_provider": "openai", "id": reply.id}
        message = AIMessage(said.content or "", tool_calls=calls, usage_metadata=counts, response_metadata=about)
        return {"messages": [message]}

    def tools(state: Any) -> Any:
        calls = state["messages"][-1].tool_calls
        return {"messages": [ToolMessage(look(**call["args"]), tool_call_id=call["id"]) for call in calls]}

    def where_next(state: Any) -> str:
        return "tools" if state["messages"][-1].tool_calls else END

    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", where_next, ["tools", END])
    graph.add_edge("tools", "model")
    return graph
