"""Templates of questions: `[templates.NAME]` of the configuration, with `$input` and other variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Template
from typing import TYPE_CHECKING, Any

from bough.errors import Invalid
from bough.model import Json
from bough.model.values import value

if TYPE_CHECKING:
    from bough.config import Config

INPUT = "input"


@value
class PromptTemplate:
    """A template: the prompt and the system prompt, and what else is used with them."""

    name: str
    prompt: str | None = None
    system: str | None = None
    model: str | None = None
    agent: str | None = None
    schema: str | None = None
    options: Mapping[str, Json] = {}  # never changed
    defaults: Mapping[str, Json] = {}

    @property
    def variables(self) -> list[str]:
        """The variables of its texts, in order, without `input`."""
        found = [name for text in (self.system, self.prompt) if text for name in Template(text).get_identifiers()]
        return [name for name in dict.fromkeys(found) if name != INPUT]

    def fill(self, words: str, given: Mapping[str, str]) -> tuple[str, str | None]:
        """The prompt and the system prompt. Words that no `$input` takes follow the prompt. Raises `Invalid`."""
        values = {**{name: str(one) for name, one in self.defaults.items()}, **given, INPUT: words}
        missing = [name for name in self.variables if name not in values]
        if missing:
            wanted = " ".join(f"-p {name}=…" for name in missing)
            raise Invalid(f"The template {self.name!r} needs more: {wanted}. Nothing was asked.")
        unknown = [name for name in given if name not in self.variables]
        if unknown:
            raise Invalid(f"The template {self.name!r} has no variable {unknown[0]!r}. Nothing was asked.")
        system = Template(self.system).safe_substitute(values) if self.system else None
        if not self.prompt:
            return words, system
        takes = any(INPUT in Template(text).get_identifiers() for text in (self.prompt, self.system) if text)
        prompt = Template(self.prompt).safe_substitute(values)
        return (prompt if takes or not words else f"{prompt}\n\n{words}"), system


def find_template(config: Config, name: str) -> PromptTemplate:
    """A template of the configuration. Raises `ConfigError`."""
    table: dict[str, Any] = config.table("templates", name)
    return PromptTemplate(name, **table)


def parse_variables(given: Sequence[str]) -> dict[str, str]:
    """The values of `-p NAME=VALUE`. Raises `Invalid`."""
    found = {}
    for one in given:
        name, sign, text = one.partition("=")
        if not sign or not name.strip():
            raise Invalid(f"-p {one!r} names no value; write -p NAME=VALUE. Nothing was asked.")
        found[name.strip()] = text
    return found
