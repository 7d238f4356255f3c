"""The first example of the README works as it is written, but for the address and the model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import openai

from tests.server.serving import Serving

README = Path(__file__).parents[3] / "README.md"


def test_the_client_of_the_readme_forks(api: Serving) -> None:
    (code,) = re.findall(r"^```py\n(.*?)^```", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"openai": openai, "TOKEN": api.token}
    exec(code.replace("http://127.0.0.1:8011", api.url).replace('"local"', '"m"'), names)
    assert (names["tree"].output_text, names["fork"].output_text) == ("one", "two")
    assert names["fork"].previous_response_id == names["tree"].id
    names["client"].close()
