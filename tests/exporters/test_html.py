"""The page in a real browser: it renders, its branches can be walked, and nothing stored runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from bough import Media, Other, Store, assistant, tool_call, tool_result, user
from bough.exporters import get
from bough.exporters.collect import collect

EVIL = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"


@pytest.fixture
def page(browser: Browser) -> Page:
    return browser.new_context(viewport={"width": 900, "height": 900}).new_page()


def opened(page: Page, store: Store, name: str, directory: Path) -> Page:
    target = directory / "page.html"
    target.write_text("".join(get("html").write(collect(store, name))), "utf-8")
    page.goto(target.as_uri())
    return page


def visible(page: Page) -> list[str]:
    return [one.inner_text() for one in page.locator("article:visible .prose").all()]


def test_the_page_shows_the_dialog_of_the_session(page: Page, garden: Store, tmp_path: Path) -> None:
    opened(page, garden, "cli:garden", tmp_path)
    assert page.title() == "The oak & the <ash>"
    assert page.locator("h1").inner_text() == "The oak & the <ash>"
    said = visible(page)
    assert said[0] == "How old is the oak?"
    assert said[-2:] == ["And the ash?", "Younger."]
    assert page.locator("article:visible img").evaluate("image => image.naturalWidth") == 1
    assert page.locator("strong", has_text="210").is_visible()
    assert page.locator("pre.code span.c1").inner_text() == "# rings"
    assert "1,200 in, 34 out · $0.0042" in page.locator(".total").first.inner_text()


def test_tool_calls_are_folded_and_open(page: Page, garden: Store, tmp_path: Path) -> None:
    opened(page, garden, "cli:garden", tmp_path)
    answer = page.locator("details", has_text="Result of measure")
    assert not answer.locator("pre").is_visible()
    answer.locator("summary").click()
    assert answer.locator("pre").inner_text() == "girth: 4.1 m"


def test_a_folded_call_says_what_it_is_about(page: Page, store: Store, tmp_path: Path) -> None:
    long = {"cmd": "ls\n<b>" + "x" * 500}
    store.session("cli:garden").save_turn(
        [user("Look."), assistant(tool_call("c1", "run", long)), tool_result("c1", "")]
    )
    summary = opened(page, store, "cli:garden", tmp_path).locator("summary", has_text="run").first.inner_text()
    assert summary.startswith("run ls <b>xxx")
    assert summary.endswith("x…")
    assert len(summary) < 100


def test_a_dialog_that_stops_before_the_conversation_does_leads_on(page: Page, garden: Store, tmp_path: Path) -> None:
    session = garden.session("cli:garden")
    session.rewind()
    opened(page, garden, "cli:garden", tmp_path)
    button = page.locator(".continuation button")
    assert button.inner_text() == "Continue from here, in 3 branches ↓"
    button.click()
    assert visible(page)[-2:] == ["In French?", "Answer to In French?"]
    assert not button.is_visible()
    page.locator("article:visible", has_text="In French?").first.get_by_label("Previous branch").click()
    assert not button.is_visible()


def test_one_way_on_is_shown_though_there_are_no_branches(page: Page, store: Store, tmp_path: Path) -> None:
    session = store.session("cli:garden")
    for words in ("one", "two"):
        session.save_turn([user(words), assistant(words.upper())])
    session.rewind()
    opened(page, store, "cli:garden", tmp_path).get_by_role("button", name="Continue from here").click()
    assert visible(page) == ["one", "ONE", "two", "TWO"]


def test_branches_are_walked_with_the_buttons_beside_a_message(page: Page, garden: Store, tmp_path: Path) -> None:
    opened(page, garden, "cli:garden", tmp_path)
    asked = page.locator("article:visible", has_text="And the ash?")
    assert asked.locator(".siblings span").inner_text() == "1 / 3"
    assert asked.get_by_label("Previous branch").is_disabled()
    asked.get_by_label("Next branch").click()
    assert visible(page)[-2:] == ["In feet?", "Answer to In feet?"]
    page.locator("article:visible", has_text="In feet?").first.get_by_label("Next branch").click()
    assert visible(page)[-2:] == ["In French?", "Answer to In French?"]


def test_every_branch_can_be_chosen_from_the_list_and_by_its_address(page: Page, garden: Store, tmp_path: Path) -> None:
    opened(page, garden, "cli:garden", tmp_path)
    page.locator(".branches summary").click()
    assert [button.inner_text()[7:] for button in page.locator(".branches button").all()] == [
        "In French?", "In feet?", "And the ash?"
    ]  # fmt: skip
    page.locator(".branches button", has_text="In feet?").click()
    assert visible(page)[-1] == "Answer to In feet?"
    head = garden.session("cli:branch-1").head
    page.goto(f"{(tmp_path / 'page.html').as_uri()}#m-{head}")
    page.reload()
    assert visible(page)[-1] == "Answer to In French?"


def test_light_and_dark_follow_the_reader_and_the_button(browser: Browser, garden: Store, tmp_path: Path) -> None:
    page = browser.new_context(color_scheme="dark").new_page()
    opened(page, garden, "cli:garden", tmp_path)
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    page.get_by_label("Light or dark").click()
    light = page.evaluate(paper)
    page.get_by_label("Light or dark").click()
    assert dark != light
    assert page.evaluate(paper) == dark


def test_nothing_that_is_stored_runs_or_is_fetched(page: Page, store: Store, tmp_path: Path) -> None:
    session = store.session("cli:evil", title=f"</title>{EVIL}")
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>top.document.title='taken'</script></svg>"
    session.save_turn([
        user(EVIL, "[click](javascript:document.title='taken') ![spy](https://example.org/spy.png)",
             Media("image", "image/svg+xml", data=svg, name='"><script>document.title="taken"</script>'),
             Media("document", "text/html", data=EVIL.encode(), name="x.html"),
             Media("image", "image/png", url="javascript:document.title='taken'")),
        assistant(EVIL, tool_call('"><script>', EVIL, {"a": EVIL}), Other(EVIL, {"b": EVIL})),
        tool_result('"><script>', EVIL),
        assistant(f"```{EVIL}\n{EVIL}\n```\n</script>\0\ud800\u202e"),
    ])  # fmt: skip
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    opened(page, store, "cli:evil", tmp_path)
    for summary in page.locator("summary").all():
        summary.click()
    assert page.title() == f"</title>{EVIL}"
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert problems == []
    assert page.locator("main script").count() == 0
    assert page.locator("a[href^='javascript:']").count() == 0


def test_the_policy_of_the_page_stops_what_escaping_would_have_missed(
    page: Page, garden: Store, tmp_path: Path
) -> None:
    whole = "".join(get("html").write(collect(garden, "cli:garden")))
    target = tmp_path / "broken.html"
    target.write_text(whole.replace("<main>", f"<main>{EVIL}<style>body {{ display: none }}</style>"), "utf-8")
    page.goto(target.as_uri())
    assert page.title() == "The oak & the <ash>"
    assert page.locator("body").evaluate("body => getComputedStyle(body).display") == "block"


def test_without_a_script_the_dialog_is_there(browser: Browser, garden: Store, tmp_path: Path) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    opened(page, garden, "cli:garden", tmp_path)
    assert visible(page)[-2:] == ["And the ash?", "Younger."]


def test_marks_of_direction_turn_nothing_around(page: Page, store: Store, tmp_path: Path) -> None:
    store.session("cli:bidi").save_turn([user("a \u202elive"), assistant("`x \u2066y`")])
    opened(page, store, "cli:bidi", tmp_path)
    assert visible(page) == ["a \ufffdlive", "x \ufffdy"]


CODE = {
    "console": "$ ls\noak.txt",
    "diff": "- oak\n+ ash",
    "python": "\n\nx = 1\n\n",
    "json": "not { json",
    "no such": "<b>",
}


@pytest.mark.parametrize("language", CODE)
def test_code_in_its_colours_is_all_there(page: Page, store: Store, tmp_path: Path, language: str) -> None:
    said = f"```{language}\n{CODE[language]}\n```"
    store.session("cli:garden").save_turn([user("Show me."), assistant(said)])
    shown = opened(page, store, "cli:garden", tmp_path).locator("pre code").evaluate("code => code.textContent")
    assert shown == CODE[language]


def test_nothing_is_cut_off_on_a_narrow_screen(page: Page, garden: Store, tmp_path: Path) -> None:
    table = "| Tree | Height |\n|:--|--:|\n| oak | twenty metres and a little more than that |"
    garden.session("cli:garden").save_turn([user("A table? " + "long " * 40), assistant(table)])
    page.set_viewport_size({"width": 320, "height": 600})
    opened(page, garden, "cli:garden", tmp_path)
    page.locator(".branches summary").click()
    edges = page.locator(".branches, .branches button").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().right)"
    )
    assert max(edges) == edges[0]
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    cell = page.locator("td").first.evaluate("cell => getComputedStyle(cell).textAlign + cell.getClientRects().length")
    assert cell == "left1"
    assert page.locator("td").last.evaluate("cell => getComputedStyle(cell).textAlign") == "right"


def test_the_keyboard_goes_where_it_leads(page: Page, garden: Store, tmp_path: Path) -> None:
    opened(page, garden, "cli:garden", tmp_path)
    page.locator(".branches summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    focused = page.evaluate("[document.activeElement.tagName, document.activeElement.hidden]")
    assert focused == ["ARTICLE", False]
    page.locator("article:visible .siblings button:enabled").first.focus()
    for _ in range(4):  # past the last one
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.tagName") == "BUTTON"


def test_every_colour_can_be_read(page: Page, garden: Store, tmp_path: Path) -> None:
    opened(page, garden, "cli:garden", tmp_path)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(CONTRASTS) == []


CONTRASTS = """() => {
  const channel = (part) => (part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(channel);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (one) => {
    for (; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (colour !== "rgba(0, 0, 0, 0)") return colour;
    }
  };
  const faint = [];
  for (const one of document.querySelectorAll("article *, .facts, h1, .branches *")) {
    if (!one.innerText || one.disabled || ![...one.childNodes].some((child) => child.nodeType === 3)) continue;
    const [a, b] = [light(getComputedStyle(one).color), light(behind(one))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.push(one.outerHTML.slice(0, 80));
  }
  return faint;
}"""
