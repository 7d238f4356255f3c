"""`make pictures`: the browser's screens as SVG in docs/pictures, drawn by Textual from a real store."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from textual.pilot import Pilot

import bough
from bough import assistant, user
from bough.cli.browser.app import Browser
from bough.cli.browser.picked import Picked
from tests.cli.history import fill

PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
SCREENS: dict[str, tuple[tuple[int, int], tuple[str, ...]]] = {
    "browser": ((130, 32), ()),
    "search": ((130, 32), ("s", "slash", *"oak")),
    "tree": ((90, 30), ("l", "space")),
    "compare": ((110, 26), ("l", "equals_sign", "k", "k", "k", "k", "equals_sign")),
    "narrow": ((40, 24), ("l",)),
}
"""Size and keys of each picture."""
ANSWER = """Plant them **twelve metres** apart; see [the plan](https://example.org/plan).

| Tree | Metres |
|:-----|-------:|
| oak  | 12 |
| birch | 5 |

```python
def trees(length: float) -> int:
    return int(length // 12) + 1  # one at each end
```
"""


async def picture(app: Browser, pilot: Pilot[Picked], keys: tuple[str, ...]) -> str:
    """The screen after some keys."""
    for key in ("", *keys):
        if key:
            await pilot.press(key)
        await pilot.pause(0.1)
        await app.workers.wait_for_complete()
    await pilot.pause(0.3)
    drawn = app.export_screenshot(title="bough")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)  # its fonts would be fetched from elsewhere
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


async def draw(store: bough.Store, size: tuple[int, int], keys: tuple[str, ...]) -> str:
    app = Browser(store, str(Path.home()))
    async with app.run_test(size=size) as pilot:
        return await picture(app, pilot, keys)


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as room:
        fill(f"{room}/chats.db")
        with bough.connect(f"{room}/chats.db") as store:
            turn = [user("As a table, with code?"), assistant(ANSWER)]
            store.session("cli:birches").save_turn(turn, model="claude-x")
            for name, (size, keys) in SCREENS.items():
                (PICTURES / f"{name}.svg").write_text(asyncio.run(draw(store, size, keys)), "utf-8")


if __name__ == "__main__":
    main()
