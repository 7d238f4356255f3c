"""Imports as jobs: a file is received whole, then read and stored in the background."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bough.errors import BoughError
from bough.importers import detect, get
from bough.importers.common.files import count_bytes
from bough.model.ids import mint
from bough.model.imported import Skipped
from bough.model.values import asdict
from bough.server.api.operations import ApiCall, Field, Operation
from bough.server.problems import HttpProblem, of_error

if TYPE_CHECKING:
    from bough.server.api.feed import Feeds
    from bough.server.stores import ServedStore
    from bough.store import Store

MOST_SKIPPED = 100
"""Items that were not understood, and are listed."""
MOST_JOBS = 200
EVERY = 50
"""Conversations between two events of progress."""


class ImportJob:
    """One import, as far as it is."""

    def __init__(self, store: ServedStore, size: int) -> None:
        self.id = mint(10)
        self.store = store
        self.status = "running"
        self.source: str | None = None
        self.size = size
        self.read = 0
        self.outcomes: Counter[str] = Counter()
        self.added = 0
        self.skipped = 0
        self.reasons: list[dict[str, str]] = []
        self.error: dict[str, str] | None = None

    def as_json(self) -> dict[str, Any]:
        """The job as a client sees it."""
        return {
            "id": self.id, "status": self.status, "source": self.source, "bytes": self.size,
            "bytes_read": min(self.read, self.size), "conversations": dict(self.outcomes), "added": self.added,
            "skipped": self.skipped, "reasons": self.reasons, "error": self.error,
        }  # fmt: skip

    def run(self, store: Store, path: str, source: str | None, again: bool, dry_run: bool, feeds: Feeds) -> None:
        """Read a file and store what is in it. The end is in `status`; what was stored before an error stays."""
        try:
            importer = get(source) if source else detect(Path(path))
            self.source = importer.name
            with count_bytes(self._count):
                for number, item in enumerate(importer.read(Path(path)), 1):
                    if isinstance(item, Skipped):
                        self._skip(item)
                    else:
                        made = store.bring_in(item, again=again, dry_run=dry_run)
                        self.outcomes[made.status] += made.conversations
                        self.added += made.added
                        for one in made.skipped:
                            self._skip(one)
                    if number % EVERY == 0:
                        feeds.publish(self.store, "import.progress", self.as_json())
            self.status = "complete"
        except Exception as error:
            problem = of_error(error)
            self.status, self.error = "failed", {"code": problem.code, "detail": problem.detail}
            if not isinstance(error, BoughError):
                raise
        finally:
            feeds.publish(self.store, "import.progress", self.as_json())

    def _count(self, size: int) -> None:
        self.read += size

    def _skip(self, item: Skipped) -> None:
        self.skipped += 1
        if len(self.reasons) < MOST_SKIPPED:
            self.reasons.append({"place": item.place, "reason": item.reason})


class Jobs:
    """The imports of a server since its start."""

    def __init__(self) -> None:
        self._all: dict[str, ImportJob] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def find(self, store: ServedStore, id: str) -> ImportJob:
        """A job of this store. Raises `HttpProblem`."""
        job = self._all.get(id)
        if job is None or job.store is not store:
            raise HttpProblem(404, "not-found", f"There is no job {id!r:.60}; jobs are kept until the server stops.")
        return job

    def of(self, store: ServedStore) -> list[ImportJob]:
        """The jobs of a store, the newest first."""
        return [job for job in reversed(self._all.values()) if job.store is store]

    def start(self, job: ImportJob, path: str, source: str | None, again: bool, dry_run: bool, feeds: Feeds) -> None:
        """Run a job in the background; its file is deleted at the end."""
        while len(self._all) >= MOST_JOBS:
            self._all.pop(next(iter(self._all)))
        self._all[job.id] = job

        async def work() -> None:
            try:
                with job.store.in_use(), suppress(Exception):
                    await job.store.call(lambda store: job.run(store, path, source, again, dry_run, feeds))
            finally:
                os.unlink(path)

        task = asyncio.create_task(work())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def begin(call: ApiCall) -> dict[str, Any]:
    """Receive a file and begin to import it."""
    path, size = await receive(call)
    if not size:
        os.unlink(path)
        raise HttpProblem(400, "invalid-parameter", "The body is the file to import, and it is empty.", "body")
    job = ImportJob(call.store, size)
    api = call.context.api
    api.jobs.start(job, path, call["source"], call["again"], call["dry_run"], api.feeds)
    return job.as_json()


async def receive(call: ApiCall) -> tuple[str, int]:
    """The body in a private file, whose name ends as the client's does, and its size."""
    suffix = re.sub(r"[^\w.]", "", Path(call["name"]).suffix)[:16]
    handle, path = tempfile.mkstemp(suffix, "bough-import-")
    size = 0
    try:
        with os.fdopen(handle, "wb") as file:
            async for piece in call.request.stream():
                size += len(piece)
                await asyncio.to_thread(file.write, piece)
    except BaseException:
        os.unlink(path)
        raise
    return path, size


async def job(call: ApiCall) -> dict[str, Any]:
    """How far an import is."""
    return call.context.api.jobs.find(call.store, call["id"]).as_json()


async def jobs(call: ApiCall) -> dict[str, Any]:
    """The imports since the server's start."""
    made = [one.as_json() for one in call.context.api.jobs.of(call.store)]
    return {"data": asdict(made), "next": None, "has_more": False}


JOB = {
    "type": "object",
    "properties": {
        "id": {"type": "string"}, "status": {"enum": ["running", "complete", "failed"]},
        "source": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "bytes": {"type": "integer"},
        "bytes_read": {"type": "integer"},
        "conversations": {"type": "object", "additionalProperties": {"type": "integer"}},
        "added": {"type": "integer"}, "skipped": {"type": "integer"},
        "reasons": {"type": "array", "items": {"type": "object"}},
        "error": {"anyOf": [{"type": "object"}, {"type": "null"}]},
    },
    "required": ["id", "status", "source", "bytes", "bytes_read", "conversations", "added", "skipped", "reasons",
                 "error"],
}  # fmt: skip
PAGE = {"type": "object", "properties": {"data": {"type": "array", "items": JOB}, "next": {"type": "null"},
                                         "has_more": {"type": "boolean"}}, "required": ["data"]}  # fmt: skip
OPERATIONS = (
    Operation("POST", "/imports", "import", "Import a file of another program, or an archive; the body is the file.",
        begin, JOB, scope="write", status=202, takes_file=True, query=(
        Field("name", "string", "The name of the file.", default=""),
        Field("source", "string", "The program that it is from; found out without it."),
        Field("again", "boolean", "Also what was deleted here.", default=False),
        Field("dry_run", "boolean", "Only count what would be imported.", default=False),
    )),
    Operation("GET", "/jobs", "listJobs", "List the imports since the server's start.", jobs, PAGE),
    Operation("GET", "/jobs/{id}", "getJob", "Read how far an import is.", job, JOB),
)  # fmt: skip
