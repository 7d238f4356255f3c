"""The methods of a checkpoint saver, awaited: each runs in a thread."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import islice
from typing import Any

from bough.adapters.common import settled

PAGE = 50


class Awaited:
    """Mixed into a saver."""

    get_tuple: Any
    list: Any
    put: Any
    put_writes: Any
    get_delta_channel_history: Any
    delete_thread: Any
    delete_for_runs: Any
    copy_thread: Any
    prune: Any

    async def aget_tuple(self, config: Any) -> Any:
        return await settled(self.get_tuple, config)

    async def alist(
        self, config: Any, *, filter: Any = None, before: Any = None, limit: int | None = None
    ) -> AsyncIterator[Any]:
        found = self.list(config, filter=filter, before=before, limit=limit)
        while page := await settled(lambda: [*islice(found, PAGE)]):
            for item in page:
                yield item

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        return await settled(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await settled(self.put_writes, config, writes, task_id, task_path)

    async def aget_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Mapping[str, Any]:
        return await settled(self.get_delta_channel_history, config=config, channels=channels)

    async def adelete_thread(self, thread_id: str) -> None:
        await settled(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await settled(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await settled(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await settled(self.prune, thread_ids, strategy=strategy)
