"""Every screen, as HTML without any script, as JSON and as Markdown."""

from __future__ import annotations

import re
from html import unescape

import httpx2
import pytest

import bough
from tests.server.serving import Serving

SCREENS = [
    "/", "/search", "/search?q=pump", "/search?q=nosuchword+pump", "/c/claude-code:pump",
    "/c/claude-code:pump?mode=focus",
    "/c/cli:evil", "/c/cli:default", "/t/claude-code:pump", "/diff/claude-code:pump...claude-code:log", "/stats",
    "/stats?by=model", "/stats?by=session&from=7d", "/trash", "/live", "/import", "/settings", "/new",
    "/c/claude-code:pump/actions?x=1", "/?source=cli", "/?pinned=1", "/?subagents=1",
    "/c/claude-code:pump?at=2020-01-01",
]  # fmt: skip


def got(served: Serving, path: str, **headers: str) -> httpx2.Response:
    with served.client(headers=headers) as client:
        return client.get(path)


def links(html: str) -> list[str]:
    return [unescape(address) for address in re.findall(r'href="(/[^"#]*)', html)]


@pytest.mark.parametrize("path", SCREENS)
def test_a_screen_is_a_whole_document(served: Serving, path: str) -> None:
    answer = got(served, path)
    assert answer.status_code == 200
    assert answer.text.startswith("<!doctype html>")
    assert answer.text.count("<main ") == 1
    assert re.search(r'<main id="main" data-state="(ready|empty|no-results|degraded)"', answer.text)
    assert " style=" not in answer.text
    assert " onerror=" not in re.sub(r"&lt;.*?&gt;", "", answer.text)


@pytest.mark.parametrize("path", [path.partition("?")[0] for path in SCREENS if "?" not in path])
def test_a_screen_is_json_and_markdown_as_well(served: Serving, path: str) -> None:
    name = "/index" if path == "/" else path
    json, markdown = got(served, f"{name}.json"), got(served, f"{name}.md")
    assert (json.status_code, markdown.status_code) == (200, 200)
    assert json.headers["content-type"] == "application/json"
    assert json.json() is not None
    assert markdown.headers["content-type"].startswith("text/markdown")
    assert markdown.text.startswith("# ")


def test_every_link_of_every_screen_leads_somewhere(served: Serving) -> None:
    left, seen = ["/"], {"/"}
    with served.client() as client:
        while left and len(seen) < 400:
            path = left.pop()
            answer = client.get(path, follow_redirects=True)
            assert answer.status_code == 200, f"{path}: {answer.status_code}"
            if not answer.headers["content-type"].startswith("text/html") or path.startswith("/export"):
                continue
            for link in links(answer.text):
                if link not in seen and not link.startswith(("/static", "/signin")):
                    seen.add(link)
                    left.append(link)
        found = {link for link in seen if re.fullmatch(r"/m/\w+(\?.*)?", link)}
    with bough.connect(str(served.db)) as store:
        ends = {tree.node.id for root in store.outline() for _, tree in root.walk() if not tree.children}
    # Every end of every tree is shown on some screen, and most are linked.
    assert len(found) > 10
    with served.client() as client:
        for end in ends:
            assert f'id="m-{end}"' in client.get(f"/m/{end}").text


def test_abandoned_branches_are_found_and_open_where_they_are(served: Serving) -> None:
    for word, other in (("quokka", "numbat"), ("numbat", "quokka")):
        found = got(served, f"/search?q={word}").text
        (link,) = {link for link in links(found) if link.startswith("/m/")}
        opened = got(served, link).text
        assert f"<mark>{word}</mark>" in opened
        main = opened.partition("<aside")[0]
        assert f"<mark>{other}</mark>" not in main


def test_a_link_to_a_message_shows_the_branch_through_it(served: Serving) -> None:
    with bough.connect(str(served.db)) as store:
        log, pump = store.session("claude-code:log").path(), store.session("claude-code:pump").path()
    shared, forked = pump[5].id, log[6].id
    text = got(served, f"/m/{forked}").text
    assert f'id="m-{shared}"' in text
    assert f'id="m-{pump[6].id}"' not in text
    siblings = re.search(r'<nav class="siblings".*?</nav>', text)
    assert siblings is not None
    assert pump[6].id in siblings[0]
    assert "1/2" in siblings[0] or "2/2" in siblings[0]


def test_a_leaf_shows_nothing_after_it(served: Serving) -> None:
    with bough.connect(str(served.db)) as store:
        path = store.session("claude-code:pump").path()
    text = got(served, f"/b/{path[0].id}").text
    assert f'id="m-{path[0].id}"' in text
    assert f'id="m-{path[1].id}"' not in text


def test_the_beginning_of_an_id_leads_to_the_message(served: Serving) -> None:
    with bough.connect(str(served.db)) as store:
        head = store.session("cli:oak").head or ""
    answer = got(served, f"/m/{head[:5]}")
    assert answer.status_code == 307
    assert answer.headers["location"].startswith(f"/m/{head}")


@pytest.mark.parametrize(("path", "status", "words"), [
    ("/m/zzzzzz", 404, "There is no message"), ("/c/nosuch", 404, "There is no session"),
    ("/t/zzzzzz", 404, "There is no"),
    ("/diff/nothing", 404, "names no two messages"), ("/c/cli:old", 410, "Restore it"),
    ("/stats?by=colour", 400, "`by` is one of"), ("/c/cli:oak?at=whenever", 400, "is not a time"),
])  # fmt: skip
def test_a_screen_that_cannot_be_shown_says_why_and_what_to_do(
    served: Serving, path: str, status: int, words: str
) -> None:
    answer = got(served, path)
    assert answer.status_code == status
    assert words in unescape(answer.text)
    assert "Request req_" in answer.text
    assert "All conversations" in answer.text


def test_a_screen_that_did_not_change_is_not_sent_again(served: Serving) -> None:
    for path in ("/", "/c/claude-code:pump", "/t/claude-code:pump", "/stats"):
        tag = got(served, path).headers["etag"]
        again = got(served, path, **{"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")


def test_no_results_say_which_word_to_drop(served: Serving) -> None:
    text = got(served, "/search?q=nosuchword+pump").text
    assert 'data-state="no-results"' in text
    assert 'href="/search?q=pump"' in text


def test_an_operator_that_is_unknown_is_searched_as_a_word_and_said_so(served: Serving) -> None:
    assert "was searched as words" in got(served, "/search?q=colour:red").text


def test_a_tool_call_is_a_command_or_a_difference(served: Serving) -> None:
    text = got(served, "/c/claude-code:pump").text
    assert "<summary>Bash <small>cat plan.py</small></summary>" in text
    assert '<span class="gd">-START = 12</span>' in text
    assert '<span class="gi">+START = 5</span>' in text


def test_prompts_and_answers_only(served: Serving) -> None:
    text = got(served, "/c/claude-code:pump?mode=focus").text
    assert "4 steps of work" in text
    assert "cat plan.py" not in text


def test_a_conversation_as_of_a_time_hides_what_came_later(served: Serving) -> None:
    with bough.connect(str(served.db)) as store:
        path = store.session("claude-code:pump").path()
    text = got(served, "/c/claude-code:pump?at=2020-01-01").text
    assert path[0].id not in text
    assert "Nothing was said here yet" in text


def test_a_picture_is_inline_and_anything_else_is_for_download_only(served: Serving) -> None:
    with bough.connect(str(served.db)) as store:
        oak, evil = store.session("cli:oak").path()[0].id, store.session("cli:evil").path()[0].id
    picture = got(served, f"/m/{oak}/files/0")
    assert (picture.headers["content-type"], picture.headers["content-disposition"]) == ("image/png", "inline")
    for place in (0, 1):
        file = got(served, f"/m/{evil}/files/{place}")
        assert file.headers["content-type"] == "application/octet-stream"
        assert file.headers["content-disposition"] == "attachment"
        assert "sandbox" in file.headers["content-security-policy"]
    assert got(served, f"/m/{evil}/files/9").status_code == 404


def test_the_comparison_marks_the_words_that_differ(served: Serving) -> None:
    text = got(served, "/diff/claude-code:pump...claude-code:log").text
    assert "6 messages in common" in text
    assert "<del>" in text
    assert "<ins>" in text


def test_the_subagent_of_a_conversation_has_its_own(served: Serving) -> None:
    keys = [row["key"] for row in got(served, "/index.json?subagents=1").json()["sessions"]]
    assert "claude-code:pump:delegate:scout" in keys
    assert "claude-code:pump:delegate:scout" not in [r["key"] for r in got(served, "/index.json").json()["sessions"]]


def test_how_the_page_looks_is_kept_in_a_cookie(served: Serving) -> None:
    with served.client() as client:
        answer = client.post("/do/look", data={"theme": "dark", "size": "120", "density": "<x>"})
        assert answer.status_code == 303
        assert 'data-theme="dark" data-density="comfortable" data-size="120"' in client.get("/").text


def test_without_a_token_a_person_is_told_to_sign_in(served: Serving) -> None:
    with served.client(None) as client:
        answer = client.get("/c/cli:oak")
    assert answer.status_code == 401
    assert 'href="/signin"' in answer.text
