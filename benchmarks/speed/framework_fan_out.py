"""Frameworks' own clients at the seven calls of a decision, for P1: a process of its own in the environment that
`make peers` makes, so it imports nothing of the project.

    python framework_fan_out.py PEER BASE_URL DECISIONS AT_ONCE < BODIES

BODIES are the seven request bodies, a line of JSON each. It prints milliseconds of CPU a decision.
"""

import asyncio
import importlib
import json
import sys
import time
from collections.abc import Awaitable, Callable
from operator import add
from typing import Annotated, Any, TypedDict

Body = dict[str, Any]
FanOut = Callable[[], Awaitable[object]]
KEY = "none"
WARM_UP = 3


def openai_sdk(base_url: str, bodies: list[Body]) -> FanOut:
    """The vendor's client, seven calls gathered."""
    client = importlib.import_module("openai").AsyncOpenAI(base_url=base_url, api_key=KEY)

    async def call(body: Body) -> None:
        answer = await client.chat.completions.create(**body)
        assert answer.choices[0].message.content

    return lambda: asyncio.gather(*map(call, bodies))


def litellm(base_url: str, bodies: list[Body]) -> FanOut:
    """LiteLLM's completion, seven calls gathered."""
    module = importlib.import_module("litellm")

    async def call(body: Body) -> None:
        named = body | {"model": f"openai/{body['model']}"}
        answer = await module.acompletion(**named, api_base=base_url, api_key=KEY)
        assert answer.choices[0].message.content

    return lambda: asyncio.gather(*map(call, bodies))


class Said(TypedDict):
    """A graph's state: what its nodes were told."""

    replies: Annotated[list[str], add]


def langgraph(base_url: str, bodies: list[Body]) -> FanOut:
    """A graph of seven nodes side by side, each of which asks LangChain's chat model."""
    graph_module = importlib.import_module("langgraph.graph")
    chat = importlib.import_module("langchain_openai").ChatOpenAI
    graph = graph_module.StateGraph(Said)
    for number, body in enumerate(bodies):
        graph.add_node(str(number), _node(chat, base_url, body))
        graph.add_edge(graph_module.START, str(number))
        graph.add_edge(str(number), graph_module.END)
    compiled = graph.compile()

    async def decide() -> None:
        state = await compiled.ainvoke({"replies": []})
        assert len(state["replies"]) == len(bodies)

    return decide


def _node(chat: Any, base_url: str, body: Body) -> Callable[[Said], Awaitable[Said]]:
    options = {name: value for name, value in body.items() if name not in ("model", "messages")}
    model = chat(model=body["model"], base_url=base_url, api_key=KEY).bind(**options)

    async def node(state: Said) -> Said:
        answer = await model.ainvoke(body["messages"])
        return {"replies": [answer.content]}

    return node


PEERS: dict[str, Callable[[str, list[Body]], FanOut]] = {
    "OpenAI SDK": openai_sdk,
    "LiteLLM": litellm,
    "LangGraph": langgraph,
}


async def measure(decide: FanOut, decisions: int, at_once: int) -> float:
    """Milliseconds of CPU a decision."""

    async def caller(count: int) -> None:
        for _ in range(count):
            await decide()

    await asyncio.gather(*(caller(WARM_UP) for _ in range(at_once)))
    began, each = time.process_time(), decisions // at_once
    await asyncio.gather(*(caller(each) for _ in range(at_once)))
    return 1000 * (time.process_time() - began) / (each * at_once)


if __name__ == "__main__":
    peer, base_url, decisions, at_once = sys.argv[1:]
    bodies = [json.loads(line) for line in sys.stdin]
    print(asyncio.run(measure(PEERS[peer](base_url, bodies), int(decisions), int(at_once))))
