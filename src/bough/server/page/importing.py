"""`/import`: the programs of this machine, and a file to bring in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bough.errors import ImporterError
from bough.exporters.html.blocks import text
from bough.importers import default_paths, detect
from bough.model import Json
from bough.model.imported import Skipped
from bough.server.page.html import notice, plural
from bough.server.page.screen import ScreenRequest, Section, State

if TYPE_CHECKING:
    from bough.store import Store

SHOWN = 50
"""Skipped places that are named."""


class ImportScreen:
    """What can be imported, and the result of the last import."""

    title = "Import"
    section: Section = "import"
    state: State = "ready"

    def __init__(self, store: Store, asked: ScreenRequest, result: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        self.can_write = asked.can_write
        found = default_paths() if asked.tenant is None else []  # the files of this machine are not a tenant's
        self.found = [(one.importer.title, str(one.path)) for one in found]
        self.result = result

    def main(self) -> str:
        form = "" if not self.can_write else (
            '<form class="drop" id="drop" method="post" action="/do/import" enctype="multipart/form-data">'
            '<label for="file"><strong>Drop a file here, or choose one</strong><span>A zip or JSON of ChatGPT or Claude, '
            "a session of Claude Code, Codex, Gemini CLI, Goose, aider, llm and more</span></label>"
            '<input type="file" id="file" name="file" required><button class="primary">Import</button>'
            '<progress id="progress" max="1" value="0" hidden></progress></form>')  # fmt: skip
        rows = "".join(
            f'<li class="row"><span><strong>{text(title)}</strong><span class="last">{text(path)}</span></span>'
            '<p class="facts"><span>on this machine</span></p></li>'
            for title, path in self.found
        )
        found = (
            ""
            if not rows
            else (
                f'<h2 class="day">Found on this machine</h2><ul class="rows">{rows}</ul><p class="hint">'
                "<code>bough import --discover</code> brings all of it in, and <code>--watch</code> keeps following it.</p>"
            )
        )
        return f'<header class="title"><h1>Import</h1></header>{self._result()}{form}{found}'

    def _result(self) -> str:
        if self.result is None:
            return ""
        if error := self.result.get("error"):
            return notice("degraded", "Nothing more was imported", f"<p>{text(error)}</p>")
        skipped = self.result["skipped"]
        rows = "".join(f"<li><code>{text(one['place'])}</code> {text(one['reason'])}</li>" for one in skipped[:SHOWN])
        more = (
            f"<details open><summary>{plural(len(skipped), 'part')} skipped</summary><ul>{rows}</ul></details>"
            if rows
            else ""
        )
        return notice(
            "ready", f"{plural(self.result['added'], 'message')} imported",
            f"<p>{text(self.result['title'])}: {plural(self.result['conversations'], 'conversation')}, "
            f"{self.result['known']:,} messages were here already. <a href=\"/\">Look at them</a></p>{more}",
        )  # fmt: skip

    def aside(self) -> str:
        return ""

    def data(self) -> Json:
        return {"found": [{"program": title, "path": path} for title, path in self.found], "result": self.result}

    def markdown(self) -> str:
        return "\n".join(["# Import", "", *(f"- {title}: `{path}`" for title, path in self.found), ""])


def bring_in(store: Store, path: Path) -> dict[str, Any]:
    """Import a file; what was added and skipped. What was stored before an error stays."""
    counts: dict[str, Any] = {"title": "", "conversations": 0, "added": 0, "known": 0, "skipped": []}
    try:
        importer = detect(path)
        counts["title"] = importer.title
        for item in importer.read(path):
            if isinstance(item, Skipped):
                counts["skipped"].append({"place": item.place, "reason": item.reason})
                continue
            result = store.bring_in(item)
            counts["conversations"] += result.conversations
            counts["added"] += result.added
            counts["known"] += result.known
            counts["skipped"] += [{"place": one.place, "reason": one.reason} for one in result.skipped]
    except ImporterError as error:
        counts["error"] = (
            f"{error} {counts['added']:,} messages were imported before that." if counts["added"] else str(error)
        )
    return counts
