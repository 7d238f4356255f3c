"""No screen has a violation of WCAG 2.2 A and AA, or of axe's best practices, in light and in dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.axe import RULES, script
from tests.server.page.conftest import Watched
from tests.server.page.test_browser import ALL
from tests.server.serving import Serving


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 375)])
def test_axe_finds_nothing_on_any_screen(browser: Browser, served: Serving, scheme: str, width: int) -> None:
    assert found(browser, served, [(scheme, width)]) == []


@pytest.mark.soak
def test_axe_finds_nothing_in_forced_colours_and_at_any_width(browser: Browser, served: Serving) -> None:
    every = [(scheme, width) for scheme in ("light", "dark", "forced") for width in (1280, 375, 320)]
    assert found(browser, served, every) == []


def found(browser: Browser, served: Serving, ways: list[tuple[str, int]]) -> list[str]:
    """The violations on all screens, each in a line."""
    axe, lines = script(), []
    for scheme, width in ways:
        looks = {"forced_colors": "active"} if scheme == "forced" else {"color_scheme": scheme}
        tab = Watched(browser, served, viewport={"width": width, "height": 900}, bypass_csp=True, **looks)
        for path in (*ALL, "/m/zzzzzz"):
            page = tab.goto(path)
            page.evaluate(axe)
            result = page.evaluate("rules => axe.run({ runOnly: rules })", RULES)
            for one in result["violations"]:
                lines += [f"{path} {scheme} {width} {one['id']}: {node['html'][:200]}" for node in one["nodes"]]
        tab.context.close()
    return lines
