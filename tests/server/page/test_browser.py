"""The page in a real browser: what the scripts add, and what may never happen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import bough
from bough import assistant, user
from tests.server.page.conftest import Watched
from tests.server.serving import Serving

ALL = [
    "/", "/search", "/search?q=pump", "/search?q=nosuchword+pump", "/c/claude-code:pump", "/c/cli:oak", "/c/cli:evil",
    "/c/cli:default", "/c/claude-code:pump/actions", "/t/claude-code:pump", "/diff/claude-code:pump...claude-code:log",
    "/stats", "/trash", "/live", "/import", "/settings", "/new",
]  # fmt: skip


@pytest.mark.parametrize("width", [1280, 375, 320])
def test_no_screen_scrolls_sideways_loads_from_elsewhere_or_runs_what_is_stored(
    browser: Browser, served: Serving, width: int
) -> None:
    tab = Watched(browser, served, viewport={"width": width, "height": 800})
    for path in ALL:
        page = tab.goto(path)
        assert page.title().endswith("bough"), path
        assert page.title() != "taken"
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{path} at {width}"
    tab.context.close()
    assert tab.wrong == []


def test_a_question_is_asked_and_its_answer_is_written_while_one_looks(tab: Watched) -> None:
    page = tab.goto("/new")
    page.get_by_label("The first message").fill("How old is the elm?")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/m/*")
    expect(page.locator("article.assistant strong")).to_have_text("oak")
    expect(page.locator("article.assistant li")).to_have_count(2)
    expect(page.locator("article.user")).to_contain_text("How old is the elm?")
    assert page.locator("[data-turn]").count() == 0


def test_a_prompt_of_an_imported_conversation_is_edited_and_asked_again(tab: Watched) -> None:
    page = tab.goto("/c/claude-code:pump")
    page.locator("article.user").first.focus()
    page.keyboard.press("e")
    page.wait_for_url("**edit=*")
    box = page.locator("#words")
    expect(box).to_have_value("The pump runs at noon. It should run at dawn.")
    box.fill("The pump runs at noon. Switch it off.")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("article.assistant strong")).to_have_text("oak")
    page.goto(f"{tab.served.url}/m/{page.locator('article.user').first.get_attribute('data-id')}")
    expect(page.locator("article.user").first).to_contain_text("Switch it off")


def test_two_models_answer_again_at_once_and_their_answers_are_branches(tab: Watched) -> None:
    with bough.connect(str(tab.served.db)) as store:
        key = store.session("cli:birch", title="The birch").key
        store.session(key).save_turn([user("How old is the birch?"), assistant("Twenty years.")])
    page = tab.goto("/c/cli:birch")
    page.get_by_label("Actions of message").last.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Model 1").select_option(index=0)
    dialog.get_by_label("Model 2").select_option(index=1)
    dialog.get_by_role("button", name="Answer again").click()
    page.wait_for_url("**/b/*")
    with bough.connect(str(tab.served.db)) as store:
        question = store.session(key).path()[0].id
        page.wait_for_function("() => !document.querySelector('[data-turn]')")
        assert len(store.children(question)) == 3
    page.goto(f"{tab.served.url}/c/cli:birch")
    expect(page.locator(".siblings").first).to_contain_text("/3")


def test_a_stopped_answer_keeps_what_has_come(tab: Watched) -> None:
    page = tab.goto("/new")
    page.locator("#words").fill("Slowly, please")
    page.get_by_label("Model").select_option(index=1)
    page.get_by_role("button", name="Send").click()
    expect(page.locator("[data-turn]")).to_contain_text("Slowly Slowly Slowly")
    page.reload()
    expect(page.locator("[data-turn]")).to_contain_text("Slowly Slowly Slowly")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("article.assistant")).to_contain_text("stopped")
    expect(page.locator("article.assistant .body")).to_contain_text("Slowly Slowly")


def test_a_subtree_goes_to_the_trash_and_comes_back_under_the_same_link(tab: Watched) -> None:
    with bough.connect(str(tab.served.db)) as store:
        session = store.session("cli:willow", title="The willow")
        session.save_turn([user("How old?"), assistant("Ten years.")])
        session.save_turn([user("Sure?"), assistant("Yes.")])
        asked = session.path()[2].id
    page = tab.goto(f"/m/{asked}")
    page.locator(f"#m-{asked}").focus()
    page.keyboard.press("#")
    with page.expect_navigation():
        page.get_by_role("button", name="Undo").click()
    tab.goto(f"/m/{asked}")
    expect(page.locator("article").last).to_contain_text("Yes.")


def test_an_old_link_to_what_is_in_the_trash_offers_to_restore_it(tab: Watched) -> None:
    with bough.connect(str(tab.served.db)) as store:
        session = store.session("cli:maple", title="The maple")
        session.save_turn([user("How old?"), assistant("Ninety years.")])
        asked = session.path()[1].id
        store.delete_messages([asked])
    with tab.served.client() as client:
        assert client.get(f"/m/{asked}").status_code == 410
    page = tab.goto(f"/m/{asked}")
    tab.wrong.clear()  # the browser reports the status 410
    expect(page.locator("main")).to_contain_text("In the trash since")
    page.get_by_role("button", name="Restore it").click()
    expect(page.locator("article").last).to_contain_text("Ninety years.")


def test_another_process_writes_and_the_page_shows_it(tab: Watched) -> None:
    page = tab.goto("/c/cli:oak")
    code = (
        "import bough, sys\n"
        "with bough.connect(sys.argv[1]) as store:\n"
        "    store.session('cli:oak').save_turn([bough.user('From elsewhere'), bough.assistant('Seen.')])\n"
    )
    page.wait_for_timeout(500)
    subprocess.run([sys.executable, "-c", code, str(tab.served.db)], check=True)
    expect(page.locator("article").last).to_contain_text("Seen.")


def test_twelve_tabs_have_one_stream_and_all_of_them_see_a_change(tab: Watched) -> None:
    streams: list[str] = []
    tabs = [tab.tab() for _ in range(12)]
    for one in tabs:
        one.on("request", lambda sent: streams.append(sent.url) if "/events" in sent.url else None)
        one.goto(f"{tab.served.url}/c/cli:default")
    tab.page.close()
    tabs[0].wait_for_timeout(800)
    with bough.connect(str(tab.served.db)) as store:
        store.session("cli:default").save_turn([user("For all tabs"), assistant("Here.")])
    for one in tabs:
        expect(one.locator("article").last).to_contain_text("Here.")
    assert len(streams) <= 2


def test_results_come_while_one_types_and_a_hit_opens_its_branch(tab: Watched) -> None:
    page = tab.goto("/search")
    page.locator("#q").press_sequentially("quokka")
    page.locator(".hit a").first.click()
    expect(page.locator("#messages mark")).to_have_text("quokka")
    expect(page.locator("article[aria-current]")).to_contain_text("quokka")


def test_the_keyboard_is_enough(tab: Watched) -> None:
    page = tab.goto("/")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Next message or row")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("watering")
    expect(page.get_by_role("dialog").get_by_role("link").first).to_contain_text("watering")
    page.keyboard.press("Enter")
    page.wait_for_url("**/c/**")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.dataset.id") is not None
    page.keyboard.press("g")
    page.keyboard.press("x")
    page.wait_for_url("**/trash")


def test_a_draft_is_kept_until_it_is_sent(tab: Watched) -> None:
    page = tab.goto("/c/claude-code:log")
    page.locator("#words").fill("A thought that is not finished")
    page.reload()
    expect(page.locator("#words")).to_have_value("A thought that is not finished")


def test_a_subagent_opens_in_its_place(tab: Watched) -> None:
    page = tab.goto("/c/claude-code:pump")
    details = page.locator("details.delegate").first
    details.locator("summary").click()
    expect(details.locator("article")).to_have_count(2)


def test_a_file_is_imported_and_what_was_skipped_is_said(tab: Watched, tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    row = (
        '{"type":"user","uuid":"u-1","parentUuid":null,"sessionId":"s-9","cwd":"/x",'
        '"timestamp":"2026-11-01T10:00:00Z","message":{"role":"user","content":"A wombat question"}}'
    )
    file.write_text(row + "\n{broken\n")
    page = tab.goto("/import")
    page.locator("#file").set_input_files(file)
    page.get_by_role("button", name="Import").click()
    expect(page.locator(".notice")).to_contain_text("1 message imported")
    expect(page.locator(".notice")).to_contain_text("1 part skipped")


def test_everything_is_read_and_done_without_javascript(browser: Browser, served: Serving) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{served.url}/signin")
    page.get_by_label("Token").fill(served.token)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Search all conversations").fill("quokka")
    page.keyboard.press("Enter")
    page.locator(".hit a").first.click()
    expect(page.locator("#messages mark")).to_have_text("quokka")
    page.get_by_role("link", name="Tree", exact=True).click()
    expect(page.get_by_role("treeitem").first).to_be_visible()
    page.get_by_role("treeitem").last.click()
    page.get_by_role("link", name="Compare this").first.click()
    expect(page.locator("ins").first).to_be_visible()
    page.goto(f"{served.url}/new")
    page.locator("#words").fill("A question without scripts")
    page.get_by_role("button", name="Send").click()
    page.wait_for_timeout(500)
    page.reload()
    expect(page.locator("article.assistant strong")).to_have_text("oak")
    page.get_by_label("Actions of message").first.click()
    page.get_by_role("button", name="New conversation from here").click()
    page.wait_for_url("**/c/**")
    page.get_by_label("Actions of message").first.click()
    page.get_by_label("Label").fill("kept")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".note", has_text="kept")).to_be_visible()
    page.get_by_role("link", name="Stats").first.click()
    expect(page.get_by_role("table")).to_be_visible()
    context.close()


def test_a_phone_reaches_every_section_and_asks(browser: Browser, served: Serving) -> None:
    tab = Watched(browser, served, viewport={"width": 375, "height": 750}, has_touch=True, is_mobile=True)
    page = tab.page
    for name in ("Live", "Stats", "Import", "Trash"):
        page.get_by_role("navigation", name="Main").get_by_role("link", name="More").tap()
        page.get_by_role("navigation", name="More").get_by_role("link", name=name).tap()
        expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    page.get_by_role("navigation", name="Main").get_by_role("link", name="New").tap()
    page.locator("#words").fill("From a phone")
    page.get_by_role("button", name="Send").tap()
    expect(page.locator("article.assistant strong")).to_have_text("oak")
    tab.context.close()
    assert tab.wrong == []
