"""The page says what the code does."""

from __future__ import annotations

import re
from typing import get_args

from bough import formats
from bough.formats.types import HARMLESS, LossCode
from tests.formats.fidelity import CASES, PAGE, TABLE, table


def test_the_fidelity_table_is_up_to_date() -> None:
    found = TABLE.search(PAGE.read_text("utf-8"))
    assert found is not None
    assert found[0] == table(), "run `python tests/formats/fidelity.py`"


def test_the_page_names_every_format() -> None:
    page = PAGE.read_text("utf-8")
    assert [name for name in formats.names() if f"`{name}`" not in page] == []


def test_the_cases_show_every_loss_that_depends_on_a_kind_of_content() -> None:
    """One depends on a name, the others are of replies that their own provider would refuse."""
    shown = set(re.findall(r"`(\w+)`", table()))
    assert set(get_args(LossCode)) - shown == {"renamed_tool", "turn_as_text", "orphan_dropped", *HARMLESS}
    assert len(CASES) == len(table().splitlines()) - 2


def test_the_example_on_the_page_says_the_truth() -> None:
    code = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert code is not None
    scope: dict[str, object] = {}
    exec(code[1], scope)
    shown = re.findall(r"^(\S.*?\S) {2,}# (True|\d+|'.*'|\[.*\])", code[1], re.MULTILINE)
    assert len(shown) == 5
    assert [(line, repr(eval(line, scope))) for line, _ in shown] == shown
