"""Sessions, messages, search, the trash and imports over HTTP."""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

import bough
from bough.model import Media
from tests.server.serving import Serving

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200))


def test_sessions_are_listed_page_by_page_under_one_cursor(http: httpx2.Client, store: bough.Store) -> None:
    for number in range(5):
        store.session(f"pages:{number}").save_turn([f"q{number}", "a"])
    seen, given = [], {"channel": "pages", "limit": "2"}
    while True:
        page = http.get("/api/v1/sessions", params=given).json()
        seen += [info["key"] for info in page["data"]]
        assert page["has_more"] == (page["next"] is not None)
        if page["next"] is None:
            break
        given = {**given, "cursor": page["next"]}
    assert seen == [f"pages:{number}" for number in (4, 3, 2, 1, 0)]
    other = http.get("/api/v1/sessions", params={"channel": "cli", "cursor": given["cursor"]})
    assert (other.status_code, other.json()["code"]) == (400, "cursor-mismatch")
    forged = given["cursor"][:-2] + ("AA" if given["cursor"][-2:] != "AA" else "BB")
    for cursor in (forged, "x", "é", ""):
        answer = http.get("/api/v1/sessions", params={**given, "cursor": cursor})
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid-cursor")
    elsewhere = http.get("/api/v1/search", params={"cursor": given["cursor"]})
    assert elsewhere.json()["code"] == "invalid-cursor"


def test_previews_and_fields_show_what_is_asked_for(http: httpx2.Client, store: bough.Store) -> None:
    store.session("pre:a").save_turn(["how tall?", "21 metres"])
    (shown,) = http.get("/api/v1/sessions?channel=pre&previews=1").json()["data"]
    assert (shown["question"]["words"], shown["last"]["words"], shown["messages"]) == ("how tall?", "21 metres", 2)
    (shown,) = http.get("/api/v1/sessions?channel=pre&fields=key,title").json()["data"]
    assert shown == {"key": "pre:a", "title": None}
    assert http.get("/api/v1/sessions?channel=pre&fields=nope").json()["param"] == "fields"


@pytest.mark.parametrize("key", ["proxy:x/y z", "a:%2F", "é:ü", "x/branches"])
def test_any_key_can_be_in_a_path(http: httpx2.Client, store: bough.Store, key: str) -> None:
    store.session(key).save_turn(["q", "a"])
    path = f"/api/v1/sessions/{quote(key, safe='')}"
    assert http.get(path).json()["key"] == key
    assert [node["role"] for node in http.get(f"{path}/path").json()["data"]] == ["user", "assistant"]


def test_a_session_is_made_described_moved_pinned_forked_and_deleted(http: httpx2.Client, store: bough.Store) -> None:
    made = http.post("/api/v1/sessions", json={"key": "api:made", "title": "Mine", "extra": {"a": [1]}})
    assert (made.status_code, made.json()["title"], made.json()["extra"]) == (201, "Mine", {"a": [1]})
    assert http.post("/api/v1/sessions", json={"key": "api:made"}).status_code == 409
    ids = store.session("api:made").save_turn(["q", "a"])
    changed = http.patch("/api/v1/sessions/api:made", json={"head": None, "pinned": True, "extra": None}).json()
    assert (changed["head_id"], changed["extra"], changed["pinned_at"] is None) == (None, None, False)
    fork = http.post(f"/api/v1/messages/{ids[1]}/fork", json={"key": "api:fork"}).json()
    assert (fork["head_id"], fork["key"]) == (ids[1], "api:fork")
    trash = http.delete("/api/v1/sessions/api:fork").json()["trash"]
    assert "in the trash" in http.get("/api/v1/sessions/api:fork").json()["detail"]
    assert http.post(f"/api/v1/trash/{trash}/restore").status_code == 200
    assert http.get("/api/v1/sessions/api:fork").json()["head_id"] == ids[1]


def test_a_subtree_goes_to_the_trash_and_comes_back_under_its_ids(http: httpx2.Client, store: bough.Store) -> None:
    ids = store.session("cli:subtree").save_turn(["q", "a"])
    more = store.session("cli:subtree").save_turn(["q2", "a2"])
    refused = http.delete(f"/api/v1/messages/{ids[1]}")
    assert (refused.status_code, refused.json()["code"]) == (409, "refused")
    entry = http.delete(f"/api/v1/messages/{ids[1]}?recursive=1").json()["trash"]
    gone = http.get(f"/api/v1/messages/{more[1]}")
    assert (gone.status_code, gone.json()["code"]) == (410, "in-the-trash")
    assert entry in gone.json()["detail"]
    assert http.get(f"/api/v1/sessions/{quote('cli:subtree')}").json()["head_id"] == ids[0]
    undone = http.post("/api/v1/undo", json={"session": "cli:subtree"}).json()["undone"]
    assert undone["verb"] == "delete"
    assert http.get(f"/api/v1/messages/{more[1]}").json()["blocks"] == [{"type": "text", "text": "a2"}]


def test_a_message_knows_its_siblings_sessions_and_turn(http: httpx2.Client, store: bough.Store) -> None:
    session = store.session("cli:place")
    ids = session.save_turn(["q", "a"])
    with session.answer() as turn:
        turn.add(bough.assistant("b"))
    shown = http.get(f"/api/v1/messages/{ids[1]}").json()
    assert (shown["siblings"], shown["sessions"]) == ([ids[1], turn.id], [])
    shown = http.get(f"/api/v1/messages/{turn.id[:5]}").json()
    assert (shown["sessions"], shown["turn"]["status"]) == (["cli:place"], "complete")
    assert http.put(f"/api/v1/messages/{turn.id}/label", json={"text": "best"}).status_code == 204
    assert http.get("/api/v1/labels").json()["labels"]["best"] == 1
    assert http.put(f"/api/v1/messages/{turn.id}/label", json={}).json()["param"] == "text"
    outline = http.get(f"/api/v1/messages/{ids[0]}/outline").json()
    assert [row["depth"] for row in outline["data"]] == [0, 1, 1]
    compared = http.get(f"/api/v1/compare?a={ids[1]}&b=cli:place").json()
    assert (compared["fork_id"], compared["common"], len(compared["b"])) == (ids[0], 1, 1)


def test_a_long_path_is_read_from_its_end(http: httpx2.Client, store: bough.Store) -> None:
    session = store.session("cli:long")
    ids = [id for number in range(4) for id in session.save_turn([f"q{number}", "a"])]
    seen: list[str] = []
    given = {"limit": "3"}
    while True:
        page = http.get(f"/api/v1/messages/{ids[-1]}/path", params=given).json()
        seen = [node["id"] for node in page["data"]] + seen
        if page["next"] is None:
            break
        given = {"limit": "3", "before": page["next"]}
    assert seen == ids


def test_content_is_read_by_its_number_and_nothing_is_run(http: httpx2.Client, store: bough.Store) -> None:
    result = bough.ToolResult("c1", (bough.Text("see"), Media("image", "image/png", PNG)))
    page = Media("document", "text/html", b"<script>alert(1)</script>")
    first, second = store.session("cli:media").save_turn([
        bough.Message("user", (bough.Text("look"), page)), bough.assistant("ok")])  # fmt: skip
    (third,) = store.save_messages([bough.Save(bough.Message("tool_result", (result,)), second)])
    shown = http.get(f"/api/v1/messages/{third}").json()["blocks"][0]["content"][1]
    assert (shown["size"], shown["mime"]) == (len(PNG), "image/png")
    picture = http.get(shown["url"])
    assert (picture.content, picture.headers["content-type"]) == (PNG, "image/png")
    assert "immutable" in picture.headers["cache-control"]
    assert http.get(shown["url"], headers={"If-None-Match": picture.headers["etag"]}).status_code == 304
    link = http.get(f"/api/v1/messages/{first}").json()["blocks"][1]["url"]
    answer = http.get(link)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == "attachment"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert http.get(f"/api/v1/messages/{first}/blocks/9").status_code == 404
    raw = http.get(f"/api/v1/messages/{first}/raw").json()
    assert raw["blocks"][1]["data"].startswith("PHNjcmlwd")


def test_a_search_takes_what_people_type_and_filters(http: httpx2.Client, store: bough.Store) -> None:
    for number in range(3):
        store.session("find:a").save_turn([f"the numbat {number}", "eats termites"])
    deadline = time.monotonic() + 20
    while (page := http.get("/api/v1/search?q=numbat+role:user&limit=2").json())["waiting"]:
        assert time.monotonic() < deadline
    assert [hit["session"] for hit in page["data"]] == ["find:a"] * 2
    rest = http.get("/api/v1/search", params={"q": "numbat role:user", "limit": "2", "cursor": page["next"]}).json()
    assert "numbat 0" in rest["data"][0]["snippet"]
    assert http.get("/api/v1/search?q=x&status=nope").json()["param"] == "status"
    assert http.get("/api/v1/facets?q=termites").json()["role"][0]["name"] == "assistant"
    assert http.get("/api/v1/usage?by=model,day").status_code == 200


def test_a_repeated_fork_gets_the_first_answer(http: httpx2.Client, store: bough.Store) -> None:
    ids = store.session("cli:rep").save_turn(["q", "a"])
    headers = {"Idempotency-Key": "k1"}
    one = http.post(f"/api/v1/messages/{ids[1]}/fork", headers=headers, json={})
    two = http.post(f"/api/v1/messages/{ids[1]}/fork", headers=headers, json={})
    assert (one.json(), two.headers["idempotent-replayed"]) == (two.json(), "true")
    other = http.post(f"/api/v1/messages/{ids[0]}/fork", headers=headers, json={})
    assert (other.status_code, other.json()["code"]) == (422, "idempotency-key-reused")


def test_a_file_is_imported_as_a_job(http: httpx2.Client, store: bough.Store) -> None:
    lines = [{"role": "user", "content": "from a file"}, {"role": "assistant", "content": "so it is"}]
    chat = json.dumps({"messages": lines}).encode()
    made = http.post("/api/v1/imports?name=chat.jsonl", content=chat)
    assert made.status_code == 202
    job = finished(http, made.json()["id"])
    assert (job["status"], job["added"], job["conversations"]) == ("complete", 2, {"new": 1}), job
    again = finished(http, http.post("/api/v1/imports?name=chat.jsonl", content=chat).json()["id"])
    assert again["added"] == 0
    bad = finished(http, http.post("/api/v1/imports", content=b"\x00nothing").json()["id"])
    assert (bad["status"], bad["error"]["code"]) == ("failed", "import")
    assert http.post("/api/v1/imports").status_code == 400
    assert http.get("/api/v1/jobs/nope").status_code == 404


def finished(http: httpx2.Client, id: str) -> dict[str, Any]:
    while (job := http.get(f"/api/v1/jobs/{id}").json())["status"] == "running":
        time.sleep(0.02)
    return job  # type: ignore[no-any-return]


def test_the_status_says_what_the_caller_may_and_what_there_is(api: Serving, http: httpx2.Client) -> None:
    status = http.get("/api/v1/status").json()
    assert status["scopes"] == ["admin", "read", "run", "write"]
    assert {"m", "slow"} <= set(status["models"])
    assert status["size"]["messages"] > 0
