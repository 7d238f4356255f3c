"""Replay recorded exchanges with real providers through the formats: `python -m tests.formats.replay DIR`.

Reads VCR's YAML and JSON and HAR files below DIR, and checks for every exchange that
- `roundtrip`: the request is the same after decoding and encoding;
- `accepted`: no rule refuses the request, which the provider has answered;
- `reply`: the reply, or its stream, decodes without a part that cannot be read;
- `context`: the dialog with the reply, with results for its calls, and with another question gives a valid request of
  every format, whole and in a half and a tenth of its size, without a turn sent as text;
- `sdk`: a stream adds up to what the provider's own SDK makes of it (streams that the SDK cannot read are counted);
- `named`: no text, call or result is missing in a request without a loss;
- `next`: where the recording goes on, the reply is sent back as the real client did (differences are counted, and no
  failures: clients edit what they send back).

Prints a table of counts, and each failure; the exit status is 1 if there are any.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from bough import formats, tool_result, user
from bough.context.fit import Context, fit
from bough.errors import BoughError, FormatWarning
from bough.formats.servers import server_at
from bough.formats.types import Recipient
from bough.model import Json, Message, Node, Text, ToolCall, ToolResult
from tests.formats.recordings import Exchange, exchanges
from tests.formats.sdk_streams import SDKS, difference

WIRES = [name for name in formats.names() if name != "bough.jsonl"]
SHARES = (None, 0.5, 0.1)
"""Budgets, as shares of the tokens of the dialog."""
COUNTED = ("next equal", "next edited")


class Replay:
    """Counts of checks by format, and the failures."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.failures: list[str] = []
        self._last: tuple[Exchange, list[Message]] | None = None

    def add(self, exchange: Exchange) -> None:
        if exchange.format not in formats.names():
            self.counts[exchange.format]["no format"] += 1
            return
        self.counts[exchange.format]["exchanges"] += 1
        asked = self._asked(exchange)
        answered = self._answered(exchange)
        if asked is None or answered is None:
            return
        self._continue(exchange, asked, answered)
        self._compare_next(exchange)
        self._last = (exchange, answered)

    def _count(self, exchange: Exchange, check: str, problem: str | None) -> None:
        self.counts[exchange.format][check if problem is None else f"{check} failed"] += 1
        if problem is not None:
            self.failures.append(f"{check}: {exchange.file} ({exchange.format}): {problem:.400}")

    def _asked(self, exchange: Exchange) -> list[Message] | None:
        wire, items = formats.get(exchange.format), exchange.items
        try:
            messages = list(wire.decode(exchange.request).messages)
            sent = items if isinstance(items, list) else None
            same = sent is None or wire.encode(messages).payload == sent
            self._count(exchange, "roundtrip", None if same else "the request is not the same")
            broken = wire.check(exchange.request)
            self._count(exchange, "accepted", "; ".join(f"{one.rule} {one.detail}" for one in broken) or None)
        except BoughError as error:
            self._count(exchange, "roundtrip", str(error))
            return None
        return messages

    def _answered(self, exchange: Exchange) -> list[Message] | None:
        wire = formats.get(exchange.format)
        try:
            reply = exchange.reply
            if reply is None:
                stream = wire.accumulator()
                for event in exchange.events:
                    stream.feed(event)
                reply = stream.reply()
                self._compare_sdk(exchange, reply)
            with warnings.catch_warnings():
                warnings.simplefilter("error", FormatWarning)
                name, decoded = formats.decode_any(reply)
        except (BoughError, FormatWarning) as error:
            self._count(exchange, "reply", str(error))
            return None
        problem = None if name == exchange.format else f"detected as {name}"
        self._count(exchange, "reply", problem)
        return list(decoded.messages)

    def _compare_sdk(self, exchange: Exchange, reply: dict[str, Json]) -> None:
        if exchange.format not in SDKS:
            return
        try:
            self._count(exchange, "sdk", difference(exchange.format, exchange.events, reply))
        except Exception:  # whatever an SDK raises for a stream that it does not expect
            self.counts[exchange.format]["sdk raises"] += 1

    def _continue(self, exchange: Exchange, asked: Sequence[Message], answered: Sequence[Message]) -> None:
        results = [tool_result(call.call_id, "ok") for call in open_calls(answered)]
        nodes = as_nodes([*asked, *answered, *results, user("and then?")])
        for name in WIRES:
            own = name == exchange.format
            recipient = Recipient(model_of(exchange), server_at(exchange.url)) if own else Recipient()
            for share in SHARES:
                budget = None if share is None else max(1, int(nodes[-1].weight * share) or 1)
                try:
                    made = fit(nodes, name, budget, target=recipient)
                except BoughError as error:
                    self._count(exchange, "context", f"to {name}: {error}")
                    continue
                text = next((loss.detail for loss in made.losses if loss.code == "turn_as_text"), None)
                self._count(exchange, "context", None if text is None else f"to {name}, as text: {text}")
                if share is None:
                    missing = next(unnamed(nodes, made), None)
                    self._count(exchange, "named", None if missing is None else f"to {name}: {missing!r:.80}")

    def _compare_next(self, exchange: Exchange) -> None:
        """Compare what bough sends for the former reply of this recording with what the client has sent."""
        if self._last is None or self._last[0].file != exchange.file or self._last[0].format != exchange.format:
            return
        before, answered = self._last
        items, former = exchange.items, before.items
        if not isinstance(items, list) or not isinstance(former, list) or items[: len(former)] != former:
            return
        wire = formats.get(exchange.format)
        mended = wire.mend([user("hi"), *answered]).messages
        sent = wire.encode(mended).payload
        if not isinstance(sent, list):
            return
        reply = sent[1:]
        client = items[len(former) : len(former) + len(reply)]
        self.counts[exchange.format]["next equal" if lean(reply) == lean(client) else "next edited"] += 1

    def report(self) -> Iterator[str]:
        for name, counts in sorted(self.counts.items()):
            yield f"{name}: " + ", ".join(f"{key} {number:,}" for key, number in sorted(counts.items()))
        yield from self.failures


def lean(value: Json) -> Json:
    """A value without fields that are null or empty, which clients add and leave out."""
    if isinstance(value, dict):
        return {key: lean(item) for key, item in value.items() if item not in (None, [], {}, "")}
    return [lean(item) for item in value] if isinstance(value, list) else value


def open_calls(messages: Sequence[Message]) -> list[ToolCall]:
    answered = {result.call_id for message in messages for result in message.results}
    return [call for message in messages for call in message.calls if call.call_id not in answered]


def as_nodes(messages: Sequence[Message]) -> list[Node]:
    from bough.context.fit import with_weights

    nodes = [
        Node(f"n{place}", f"n{place - 1}" if place else None, place, message) for place, message in enumerate(messages)
    ]
    return with_weights(nodes, None)


def model_of(exchange: Exchange) -> str | None:
    model = exchange.request.get("model")
    if isinstance(model, str):
        return model
    return exchange.url.split("/models/")[-1].split(":")[0] if "/models/" in exchange.url else None


def unnamed(nodes: Sequence[Node], made: Context) -> Iterator[str]:
    """Texts of the dialog that are not in the request, unless anything was lost."""
    if made.losses:
        return
    sent = json.dumps(made.payload, ensure_ascii=False, default=str)
    for node in nodes:
        for block in node.message.blocks:
            texts = block.content if isinstance(block, ToolResult) else (block,)
            for part in texts:
                if isinstance(part, Text) and not all(is_in(line, sent) for line in lines_of(part.text)):
                    yield part.text


def lines_of(text: str) -> list[str]:
    """The lines of a text; of JSON, which may be sent as an object, its strings."""
    try:
        leaves = [json.loads(text)]
    except ValueError:
        return [line.strip() for line in text.splitlines() if line.strip()]
    found: list[str] = []
    while leaves:
        leaf = leaves.pop()
        leaves += leaf.values() if isinstance(leaf, dict) else leaf if isinstance(leaf, list) else ()
        found += [leaf] if isinstance(leaf, str) else []
    return found


def is_in(text: str, sent: str) -> bool:
    """Whether a text is in the JSON of a request, as it is or as JSON inside a string."""
    once = json.dumps(text, ensure_ascii=False)[1:-1]
    return once in sent or json.dumps(once, ensure_ascii=False)[1:-1] in sent


def replay(root: Path) -> Replay:
    """Replay every exchange of a directory."""
    found = Replay()
    for exchange in exchanges(root):
        found.add(exchange)
    return found


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("Usage: python -m tests.formats.replay DIR", file=sys.stderr)
        return 2
    found = replay(Path(arguments[0]))
    for line in found.report():
        print(line)
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
