"""`/c/<session>`, `/m/<message>` and `/b/<leaf>`: a path of a tree, a window of it at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bough.errors import NotFound
from bough.exporters import get
from bough.exporters.collect import title_of
from bough.exporters.html.blocks import text
from bough.exporters.types import ExportedConversation
from bough.model import Json, Node, SessionInfo, TurnInfo
from bough.model.branches import PathWindow, Segment
from bough.model.search_query import parse_query
from bough.model.times import iso
from bough.model.tree import Tree
from bough.model.values import replace
from bough.server.page import message
from bough.server.page.composer import composer
from bough.server.page.html import (
    button,
    chip,
    facts_line,
    message_link,
    moment,
    notice,
    plural,
    program,
    session_link,
    short,
    status,
    tokens,
    words_of,
)
from bough.server.page.screen import Redirected, ScreenRequest, Section, State

if TYPE_CHECKING:
    from bough.model.previews import SessionPreview
    from bough.store import Store

WINDOW = 200
DELEGATES = 100


def at_session(store: Store, asked: ScreenRequest) -> ConversationScreen:
    """The dialog of a session. Raises `NotFound`."""
    info = store.find_session(asked.path, as_of=asked.as_of)
    if info is None and (now := store.find_session(asked.path)) is not None:  # it was not there yet
        info = replace(now, head_id=None)
    if info is None:
        raise NotFound(f"There is no session {asked.path!r}; it may be in the trash.")
    return ConversationScreen(store, asked, info, info.head_id, asked.get("around"))


def at_message(store: Store, asked: ScreenRequest) -> ConversationScreen:
    """The path through a message to the end of its newest branch, or to `?leaf=`. Raises `NotFound`, `Ambiguous`."""
    id = store.find_id(asked.path)
    if id is None:
        raise NotFound(f"There is no message {asked.path!r}; it may be in the trash.")
    if id != asked.path:
        raise Redirected(message_link(id))
    info = next(iter(store.sessions_through(id)), None)
    leaf = asked.get("leaf") or id
    return ConversationScreen(store, asked, info, leaf, id, is_end=asked.get("leaf") is not None)


def at_leaf(store: Store, asked: ScreenRequest) -> ConversationScreen:
    """The path to a message, and nothing after it. Raises `NotFound` and `Ambiguous`."""
    id = store.find_id(asked.path)
    if id is None:
        raise NotFound(f"There is no message {asked.path!r}; it may be in the trash.")
    return ConversationScreen(store, asked, next(iter(store.sessions_through(id)), None), id, None)


class Shape:
    """The segments of a tree: what is beside a message, and where its newest branch ends."""

    def __init__(self, tree: Tree[Segment]) -> None:
        self.tree = tree
        self.by_end = {found.node.id: found for _, found in tree.walk()}
        self.children: dict[str | None, list[Tree[Segment]]] = {}
        for _, found in tree.walk():
            self.children.setdefault(found.node.parent_id, []).append(found)

    @property
    def leaves(self) -> list[Tree[Segment]]:
        """The ends, the one used last at the end."""
        return sorted((found for _, found in self.tree.walk() if not found.children), key=lambda found: found.latest)

    def sessions(self, but: str | None) -> dict[str, tuple[str, ...]]:
        """Keys of the sessions at the messages where they stand, without one of them."""
        return {id: tuple(key for key in found.node.last.sessions if key != but) for id, found in self.by_end.items()}

    def siblings(self) -> dict[str, tuple[int, list[str]]]:
        """Of each message with siblings: its place among them, and the ids of all, oldest first."""
        found: dict[str, tuple[int, list[str]]] = {}
        for beside in self.children.values():
            if len(beside) > 1:
                ids = [one.node.first.id for one in sorted(beside, key=lambda one: one.node.first.created_at)]
                found |= {id: (place, ids) for place, id in enumerate(ids)}
        return found


class ConversationScreen:
    """A window of a path, with the messages beside it."""

    section: Section = "list"

    def __init__(
        self, store: Store, asked: ScreenRequest, info: SessionInfo | None, leaf: str | None, around: str | None,
        *, is_end: bool = True,
    ) -> None:  # fmt: skip
        self.asked = asked
        self.info = info
        self.around = around
        self.window, self.shape, self.leaf = PathWindow((), 0, 0), None, leaf
        if leaf is not None:
            self.shape = Shape(store.segments(leaf, whole=True, as_of=asked.as_of)[0])
            self.leaf = leaf if is_end else self._end_below(store, leaf)
            self.window = store.window(self.leaf, around, WINDOW)
        nodes = self.window.nodes
        ids = sorted({node.turn_id for node in nodes if node.turn_id is not None})
        self.turns: dict[str, TurnInfo] = {turn.id: turn for turn in store.list_turns(ids)} if ids else {}
        self.preview = next(iter(store.previews([info])), None) if info is not None else None
        self.delegates = self._delegates(store)
        self.running = self._running(store)
        self.unfinished = store.session(info.key).unfinished if info is not None and info.head_id else []
        self.title = self._title()
        self.state: State = "ready" if nodes else "empty"

    def _end_below(self, store: Store, id: str) -> str:
        """The end of the newest branch through a message."""
        leaves = self.shape.leaves if self.shape is not None else []
        if len(leaves) == 1:  # then it is the end of every path
            return leaves[0].node.id
        tree = store.segments(id, as_of=self.asked.as_of)
        return tree[0].newest.id if tree else id

    def _running(self, store: Store) -> list[tuple[str, str]]:
        """The turns that are written below the last message, and what has come of their replies."""
        if not self.window.nodes or self.window.start + len(self.window.nodes) < self.window.total:
            return []
        end = self.window.nodes[-1].id
        running = [turn for turn in store.turns(status="running", limit=50) if end in (turn.last_id, turn.parent_id)]
        if not running:
            return []
        come = {reply.turn_id: reply.message.text for reply in store.running_replies()}
        return [(turn.id, come.get(turn.id, "")) for turn in running]

    def _delegates(self, store: Store) -> dict[str, list[SessionPreview]]:
        if self.info is None or self.preview is None or not self.preview.delegates:
            return {}
        found: dict[str, list[SessionPreview]] = {}
        for one in store.previews(store.sessions(parent=self.info.key, limit=DELEGATES)):
            found.setdefault(one.info.parent_message_id or "", []).append(one)
        return {id: sessions[::-1] for id, sessions in found.items()}

    def _title(self) -> str:
        if self.preview is not None and self.preview.title:
            return " ".join(self.preview.title.split())[:200]
        return title_of(self.info, list(self.window.nodes)) if self.window.nodes else (
            self.info.key if self.info else "A conversation")  # fmt: skip

    # HTML -----------------------------------------------------------------------------------------------------------

    def main(self) -> str:
        return f"{self._heading()}{self._messages()}{self._foot()}"

    def _heading(self) -> str:
        info, preview = self.info, self.preview
        facts = [] if info is None else [program(info.channel), info.directory or "", info.key]
        counts = [plural(self.window.total, "message")]
        if preview is not None:
            counts += [tokens(preview.usage)]
        ends = [] if self.shape is None else self.shape.leaves
        forks = f'<a href="#branches">{plural(len(ends), "branch")}</a>' if len(ends) > 1 else ""
        past = "" if self.asked.get("at") is None else (
            f'<p class="past" role="note">As it was on {text(self.asked.get("at") or "")}; later messages are hidden. '
            f'<a href="{text(self.asked.with_query(at=None) or "?")}">Back to now</a></p>')  # fmt: skip
        modes = "".join(
            chip(label, self.asked.with_query(mode=mode) or "?", on=self.asked.get("mode") == mode)
            for label, mode in (("Everything", None), ("Prompts and answers", "focus"))
        )
        more = (
            f'<a class="chip" href="{session_link(info.key)}/actions" data-dialog>More…</a>' if info is not None else ""
        )
        tree = f'<a class="chip" href="/t/{text(self.leaf)}">Tree</a>' if self.leaf else ""
        return (
            f'<header class="title"><h1 dir="auto">{text(self.title)}</h1>'
            f'<p class="facts">{facts_line([*facts, *counts])}{forks}</p>'
            f'<nav class="chips" aria-label="View">{modes}{tree}{more}'
            f"</nav>{past}</header>"
        )

    def _messages(self) -> str:
        if not self.window.nodes:
            words = notice("empty", "Nothing was said here yet", "<p>The first message begins the conversation.</p>")
            return f'<div class="messages" id="messages">{words}</div>'
        earlier = self.window.start
        link = ""
        if earlier:
            first = self.window.nodes[0].id
            link = (f'<p class="earlier"><a href="{text(self._page(first))}" data-earlier>'
                    f"{plural(earlier, 'earlier message')}</a></p>")  # fmt: skip
        return f'<div class="messages" id="messages">{link}{"".join(self._articles())}{self._later()}{self._written()}</div>'

    def _page(self, around: str) -> str:
        """The address of the part of this path around a message."""
        return f"/m/{around}{self.asked.with_query(leaf=self.leaf, q=self.asked.get('q'))}#m-{around}"

    def _later(self) -> str:
        after = self.window.total - self.window.start - len(self.window.nodes)
        if not after:
            return ""
        last = self.window.nodes[-1].id
        return f'<p class="later"><a href="{text(self._page(last))}">{plural(after, "later message")}</a></p>'

    def _written(self) -> str:
        """Replies that are being written. The script adds to them what comes."""
        return "".join(
            f'<article class="assistant writing" data-turn="{text(id)}" tabindex="-1" aria-label="Reply that is being '
            f'written" aria-busy="false"><header><span class="who">Assistant</span><span class="status running">writing'
            f"</span>{button('stop', 'Stop', id=id) if self.asked.can_run else ''}</header>"
            f'<div class="body"><div class="prose open-block" dir="auto">{text(words)}</div></div></article>'
            for id, words in self.running
        )

    def _articles(self) -> Iterator[str]:
        shape = self.shape
        wanted = tuple(term.text for term in parse_query(self.asked.get("q") or "").terms if not term.excluded)
        tools = {call.call_id: call.name for node in self.window.nodes for call in node.message.calls}
        around = message.Surroundings(
            self.turns, shape.siblings() if shape else {}, shape.sessions(self.info.key if self.info else None) if shape else {}, self.delegates, tools,
            wanted, self.around,
        )  # fmt: skip
        hidden, before = 0, None
        for node in self.window.nodes:
            if self.asked.get("mode") == "focus" and not is_focus(node):
                hidden += 1
                continue
            if hidden:
                yield f'<p class="folded-steps">{plural(hidden, "step")} of work</p>'
            yield message.article(node, around, None if hidden else before)
            hidden, before = 0, node
        if hidden:
            yield f'<p class="folded-steps">{plural(hidden, "step")} of work</p>'

    def _foot(self) -> str:
        broken = [turn for turn in self.unfinished if turn.status != "running"][:1]
        resume = "".join(
            f'<div class="unfinished" role="note">{status(turn.status)} <p>{text(turn.error or "This turn did not end.")}'
            f' <a href="{message_link(turn.last_id)}">Look at it</a></p>{button("resume", "Take it up", id=turn.id)}</div>'
            for turn in broken
        )
        if self.asked.as_of is not None or self.running:
            return resume
        return resume + composer(self.asked, self.info, self.leaf, self.window.nodes)

    def aside(self) -> str:
        prompts = [node for node in self.window.nodes if node.role == "user" and node.message.text.strip()]
        outline = "".join(f'<li><a href="#m-{text(node.id)}" dir="auto">{brief(node)}</a></li>' for node in prompts)
        listed = f'<section><h2>Prompts</h2><ol class="outline">{outline}</ol></section>' if outline else ""
        return listed + self._branches() + self._usage()

    def _branches(self) -> str:
        ends = [] if self.shape is None else self.shape.leaves[::-1]
        if len(ends) < 2:
            return ""

        def item(end: Tree[Segment]) -> str:
            here = ' aria-current="true"' if end.node.id == self.leaf else ""
            compare = "" if here or self.leaf is None else (
                f'<a class="compare" href="/diff/{text(self.leaf)}...{text(end.node.id)}" '
                f'aria-label="Compare this with {text(end.node.id)}">compare</a>')  # fmt: skip
            return (f'<li><a href="/m/{text(end.node.id)}#m-{text(end.node.first.id)}"{here} dir="auto">'
                    f"{words_of(end.node.first, 90) or text(end.node.id)}</a><small>{moment(end.node.last.created_at)} · "
                    f"{plural(end.node.messages, 'message')}</small>{compare}</li>")  # fmt: skip

        rest = f"<li><a href='/t/{text(self.leaf or '')}'>{len(ends) - 30} more</a></li>" if len(ends) > 30 else ""
        return (f'<section id="branches"><h2>{len(ends)} branches</h2><ol class="ends">'
                f"{''.join(map(item, ends[:30]))}{rest}</ol></section>")  # fmt: skip

    def _usage(self) -> str:
        if self.preview is None or self.info is None:
            return ""
        usage, rows = self.preview.usage, []
        for label, count in (("Read", usage.input_tokens), ("of it cached", usage.cached_tokens),
                             ("Written", usage.output_tokens)):  # fmt: skip
            if count is not None:
                rows.append(f"<dt>{label}</dt><dd>{short(count)} tokens</dd>")
        if usage.cost is not None:
            rows.append(f"<dt>Cost</dt><dd>${usage.cost:,.4f}</dd>")
        elif usage.output_tokens:
            rows.append("<dt>Cost</dt><dd>not known</dd>")
        if self.preview.model:
            rows.append(f"<dt>Model</dt><dd>{text(self.preview.model)}</dd>")
        rows.append(f"<dt>Begun</dt><dd>{moment(self.info.created_at)}</dd>")
        rows.append(f"<dt>Last used</dt><dd>{moment(self.info.updated_at)}</dd>")
        return f"<section><h2>All branches</h2><dl>{''.join(rows)}</dl></section>"

    # Other forms ----------------------------------------------------------------------------------------------------

    def data(self) -> Json:
        info, window = self.info, self.window
        return {
            "title": self.title,
            "session": None if info is None else {
                "key": info.key, "head": info.head_id, "channel": info.channel, "directory": info.directory,
                "created": iso(info.created_at), "updated": iso(info.updated_at), "revision": info.revision,
            },
            "leaf": self.leaf, "start": window.start, "total": window.total,
            "messages": [message.data(node, self.turns.get(node.turn_id or "")) for node in window.nodes],
        }  # fmt: skip

    def markdown(self) -> str:
        nodes = list(self.window.nodes)
        if not nodes:
            return f"# {self.title}\n"
        told = ExportedConversation(self.title, nodes, nodes[-1].id, self.turns)
        part = (
            ""
            if len(nodes) == self.window.total
            else (
                f"\n*Messages {self.window.start + 1:,} to {self.window.start + len(nodes):,} of {self.window.total:,}.*\n"
            )
        )
        return "".join(get("md").write(told)) + part


def is_focus(node: Node) -> bool:
    """Whether a message is a prompt, or an answer that calls no tools."""
    return node.role == "user" or node.kind == "summary" or (
        node.role == "assistant" and not node.message.calls and bool(node.message.text.strip()))  # fmt: skip


def brief(node: Node, most: int = 80) -> str:
    """The first words of a message."""
    line = " ".join(node.message.text[: 4 * most].split())
    return text(line if len(line) <= most else line[: most - 1] + "…")
