"""JSON that is kept beside blocks: the same again, without what the blocks hold already."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest

from bough.codec.verbatim import MARK, pack, unpack
from bough.errors import Invalid
from bough.model import Json

LONG = 'a text of more than forty characters, with "quotes" and\nlines'
ARGUMENTS = json.dumps({"path": "/home/user/garden/north.txt", "limit": 10, "é": None}, ensure_ascii=False)
BYTES = bytes(range(60))
HELD = (LONG, ARGUMENTS, BYTES, None, "short")


@pytest.mark.parametrize(
    "value",
    [
        {"text": LONG},
        [{"deep": [LONG, {"again": LONG}]}],
        {"input": json.loads(ARGUMENTS), "as text": ARGUMENTS},
        {"source": {"data": b64encode(BYTES).decode()}, "url": f"data:image/png;base64,{b64encode(BYTES).decode()}"},
    ],
)
def test_what_a_block_holds_is_not_written_again(value: Json) -> None:
    text = pack(value, HELD)
    assert text.startswith(MARK)
    assert not any(part in text for part in ("quotes", "north.txt", b64encode(BYTES).decode()))
    assert unpack(text, HELD) == value
    assert list(unpack(text, HELD)) == list(value)


@pytest.mark.parametrize("value", [None, True, 7, "short", [], {}, {"a": [1, None]}, {"text": LONG[:-1]}])
def test_what_no_block_holds_is_plain_json(value: Json) -> None:
    assert pack(value, HELD) == json.dumps(value, ensure_ascii=False)
    assert unpack(pack(value, HELD), HELD) == value


def test_a_value_that_looks_like_a_hole_gets_none() -> None:
    value = {"$bough": [0], "text": LONG}
    assert unpack(pack(value, HELD), HELD) == value


@pytest.mark.parametrize("value", [{1: LONG}, {"a": {None: 1}}, [{"b": ({2.5: ""},)}]])
def test_keys_that_are_no_strings_are_refused(value: Json) -> None:
    with pytest.raises(Invalid, match="keys are strings"):
        pack(value, HELD)


def test_keys_that_are_no_strings_are_refused_even_where_a_block_spells_them_out() -> None:
    value = {1: "a text of more than forty characters, at least so"}
    with pytest.raises(Invalid, match="keys are strings"):
        pack(value, (json.dumps(value),))
