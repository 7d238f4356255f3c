"""Nobody without a token is let in, no page of another site can act, and no other name is answered."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

import bough
from bough.server.access import tokens
from tests.server.serving import Serving, serving

PRIVATE = ["/metrics", "/v1/models", "/mcp", "/proxy/x/openai/v1/responses", "/api/v1/sessions", "/", "/nosuch"]


@pytest.mark.parametrize("path", PRIVATE)
def test_nothing_is_served_without_a_token(server: Serving, path: str) -> None:
    with server.client(None) as client:
        for method in ("GET", "POST", "DELETE", "PUT", "PATCH"):
            answer = client.request(method, path)
            assert answer.status_code == 401, (method, path, answer.text)
            assert answer.headers["x-request-id"].startswith("req_")


@pytest.mark.parametrize(
    "token", ["wrong", "bough_", "bough_00000000_" + "x" * 43, "é".encode().decode("latin-1"), "a b"]
)
def test_a_wrong_token_is_refused(server: Serving, token: str) -> None:
    headers = {b"Authorization": b"Bearer " + token.encode("latin-1")}
    with server.client(None) as client:
        assert client.get("/metrics", headers=headers).status_code == 401


def test_health_is_open_and_says_nothing_else(server: Serving) -> None:
    with server.client(None) as client:
        assert (client.get("/healthz").text, client.get("/readyz").text) == ("ok\n", "ready\n")


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example", "", "evil.example:8011"]
)
def test_a_request_for_another_host_is_misdirected(server: Serving, host: str) -> None:
    with server.client() as client:
        answer = client.get("/metrics", headers={"Host": host})
        assert answer.status_code in (400, 421), answer.text


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:80"])
def test_the_names_of_loopback_are_its_own(server: Serving, host: str) -> None:
    with server.client() as client:
        assert client.get("/metrics", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("headers", [
    {"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
    {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"},
])  # fmt: skip
def test_a_page_of_another_site_cannot_act_even_with_a_token(server: Serving, headers: dict[str, str]) -> None:
    with server.client() as client:
        answer = client.post("/api/v1/nosuch", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "cross-site")


def test_a_program_needs_no_origin(server: Serving) -> None:
    with server.client() as client:
        assert client.post("/api/v1/nosuch").status_code == 404


def cookie(server: Serving) -> str:
    with server.client(None) as client:
        answer = client.post(
            "/signin", data={"token": server.token, "next": "/x"}, headers={"Sec-Fetch-Site": "same-origin"}
        )
    assert (answer.status_code, answer.headers["location"]) == (303, "/x")
    assert {"HttpOnly", "SameSite=Strict"} <= set(answer.headers["set-cookie"].split("; "))
    assert server.token not in answer.headers["set-cookie"]
    return answer.headers["set-cookie"].split(";")[0]


def test_a_browser_signs_in_with_the_token_and_its_cookie_is_for_the_page_only(server: Serving) -> None:
    with server.client(None, headers={"Cookie": cookie(server)}) as client:
        assert client.get("/nosuch").status_code == 404
        assert client.get("/api/v1/nosuch").status_code == 404
        for path in ("/v1/models", "/mcp", "/metrics"):
            assert client.get(path).status_code == 401, path


def test_a_cookie_needs_a_page_of_our_own_for_changes(server: Serving) -> None:
    with server.client(None, headers={"Cookie": cookie(server)}) as client:
        assert client.post("/api/v1/nosuch").status_code == 403
        assert client.post("/api/v1/nosuch", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 404
        assert client.post("/api/v1/nosuch", headers={"Origin": server.url}).status_code == 404
        cross = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
        assert client.get("/api/v1/nosuch", headers=cross).status_code == 403


def test_a_changed_cookie_is_refused(server: Serving) -> None:
    name, _, content = cookie(server).partition("=")
    id, until, signature = content.split(".")
    for forged in (
        f"{id}.{int(until) + 1}.{signature}",
        f"{id}.1.{signature}",
        f"x.{until}.{signature}",
        "",
        "..",
        content[:-1],
    ):
        with server.client(None, headers={"Cookie": f"{name}={forged}"}) as client:
            assert client.get("/nosuch").status_code == 401, forged


@pytest.mark.parametrize("target", ["//evil.example", "/\\evil.example", "https://evil.example", "x", "/\tx"])
def test_signing_in_never_leads_to_another_site(server: Serving, target: str) -> None:
    with server.client(None) as client:
        form = {"token": server.token, "next": target}
        assert client.post("/signin", data=form, headers={"Sec-Fetch-Site": "same-origin"}).headers["location"] == "/"


def test_scopes_expiry_and_revoking(tmp_path: Path) -> None:
    with serving(tmp_path) as server, bough.connect(tmp_path / "s.db") as store:
        _, reader = tokens.create(store, "reader", ["read"])
        _, short = tokens.create(store, "short", ["read"], expires=0.05)
        info, writer = tokens.create(store, "writer", ["read", "write"])
        assert b"bough_" not in b"".join(row[4] for row in store.db.rows("server_tokens"))
        with server.client(reader) as client:
            assert client.get("/metrics").status_code == 200
            answer = client.post("/api/v1/nosuch")
            assert (answer.status_code, answer.json()["code"]) == (403, "scope-missing")
        with server.client(writer) as client:
            assert client.post("/api/v1/nosuch").status_code == 404
            tokens.revoke(store, info.id)
            assert client.post("/api/v1/nosuch").status_code == 401
        with server.client(short) as client:
            assert client.get("/metrics").status_code == 401


def test_security_headers_are_on_every_answer(server: Serving) -> None:
    with server.client(None) as client:
        for path in ("/signin", "/nosuch", "/healthz", "/static/signin.js"):
            headers = client.get(path).headers
            assert "default-src 'none'" in headers["content-security-policy"], path
            assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
            assert "server" not in headers


def start(*options: str, home: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bough", "serve", "--port", "0", *options]
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(("options", "reason"), [
    (("--host", "0.0.0.0", "--no-token"), "this machine only"),
    (("--host", "0.0.0.0"), "clear text"),
    (("--host", "192.0.2.1"), "clear text"),
])  # fmt: skip
def test_an_address_that_others_reach_is_refused_without_token_or_encryption(
    tmp_path: Path, options: tuple[str, ...], reason: str
) -> None:
    done = start(*options, home=tmp_path)
    assert done.returncode == 5
    assert reason in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_token_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("bough_" + "x" * 43)
    file.chmod(0o644)
    done = start("--token-file", str(file), home=tmp_path)
    assert (done.returncode, "other users" in done.stderr) == (5, True)
    file.chmod(0o600)
    (tmp_path / "link").symlink_to(file)
    done = start("--token-file", str(tmp_path / "link"), home=tmp_path)
    assert (done.returncode, "cannot be used" in done.stderr) == (5, True)


def test_the_token_is_in_no_log_and_on_no_line_of_a_pipe(tmp_path: Path) -> None:
    with serving(tmp_path, "-v") as server:
        with server.client() as client:
            client.get("/metrics?secret=words")
            client.get(f"/proxy/{server.token}/openai/v1/models")
        assert server.token not in server.url
        server.stop()
        assert server.token not in server.errors()
        assert "words" not in server.errors()
        assert '"route": "/metrics"' in server.errors()


def test_a_unix_socket_is_for_this_user(tmp_path: Path) -> None:
    path = tmp_path / "bough.sock"
    with serving(tmp_path, "--socket", str(path)) as server:
        assert path.stat().st_mode & 0o777 == 0o600
        transport = httpx2.HTTPTransport(uds=str(path))
        with httpx2.Client(base_url="http://any", transport=transport) as client:
            assert client.get("/metrics", headers={"Authorization": f"Bearer {server.token}"}).status_code == 200
            assert client.get("/metrics").status_code == 401
    assert urlsplit(server.url).scheme == "unix"
