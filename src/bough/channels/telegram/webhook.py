"""Receive Telegram's updates by a webhook: a small HTTP server behind the address that Telegram calls."""

from __future__ import annotations

import hmac
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from bough.channels.telegram.updates import KINDS, UNREADABLE
from bough.errors import BoughError, ConfigError

if TYPE_CHECKING:
    from bough.agent import Stop
    from bough.channels.receiver import Receiver
    from bough.channels.telegram.api import BotApi
    from bough.channels.telegram.updates import UpdateReader

SECRET = "X-Telegram-Bot-Api-Secret-Token"
LARGEST_UPDATE = 1024 * 1024
READ_SECONDS = 10.0


def receive_webhook(api: BotApi, webhook: dict[str, Any], reader: UpdateReader, receiver: Receiver, stop: Stop) -> None:
    """Register the address, and deliver updates until the stop. Raises `ConfigError` without a secret."""
    secret = str(webhook.get("secret") or "")
    if not secret:
        raise ConfigError("A webhook needs webhook_secret: without it anybody could send updates to its address.")
    handler = handler_for(secret, reader, receiver)
    with ThreadingHTTPServer((webhook.get("host", "127.0.0.1"), int(webhook.get("port", 8443))), handler) as server:
        api.call("setWebhook", {"url": webhook["url"], "secret_token": secret, "allowed_updates": KINDS})
        thread = threading.Thread(target=server.serve_forever, name="telegram webhook", daemon=True)
        thread.start()
        receiver.ready()
        stop.wait()
        server.shutdown()


def handler_for(secret: str, reader: UpdateReader, receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    """A handler of requests. Telegram sends an update again until it is answered with 200."""

    class WebhookHandler(BaseHTTPRequestHandler):
        timeout = READ_SECONDS

        def do_POST(self) -> None:
            """Accept one update."""
            if not hmac.compare_digest(self.headers.get(SECRET, "").encode(), secret.encode()):
                self._answer(403)
                return
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > LARGEST_UPDATE:
                self._answer(413)
                return
            try:
                event = reader.event(json.loads(self.rfile.read(int(length))))
            except UNREADABLE:
                self._answer(200)  # it would be as unreadable the next time
                return
            try:
                if event is not None:
                    receiver.accept(event)
            except BoughError:
                self._answer(500)
                return
            self._answer(200)

        def _answer(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: addresses and contents belong to other people."""

    return WebhookHandler
