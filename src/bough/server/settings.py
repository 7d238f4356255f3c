"""Settings of a server, and which of them are refused."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from bough.config import Config
from bough.errors import Refused
from bough.model.values import value

HOST, PORT = "127.0.0.1", 8011
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


@value
class ServerSettings:
    """How a server listens, whom it lets in, and how much it accepts."""

    host: str = HOST
    port: int = PORT
    socket_path: str | None = None
    """A Unix socket to listen on instead of a port."""
    token: str | None = None
    """The token of the token file; None lets everybody in, which is refused except on loopback."""
    certificate: str | None = None
    key: str | None = None
    behind_proxy: bool = False
    """Whether a reverse proxy encrypts, and its X-Forwarded headers are to be believed."""
    hosts: tuple[str, ...] = ()
    """Further names in the Host header, beside loopback's and `host`."""
    origins: tuple[str, ...] = ()
    """Other sites whose pages may send requests."""
    models: Mapping[str, str] = {}
    """Aliases of models: the name in a request, and `PROVIDER:MODEL`."""
    proxies: Mapping[str, str] = {}
    """Addresses of the recording proxy by name, beside those of OpenAI and Anthropic."""
    max_body: int = 64_000_000
    """Bytes of a request body."""
    max_upload: int = 2_000_000_000
    """Bytes of a file to import."""
    header_seconds: float = 10.0
    """Seconds for the first line and the headers of a request."""
    read_seconds: float = 30.0
    """Longest wait for the next piece of a request body."""
    write_seconds: float = 60.0
    """Longest wait for a client to take the next piece of a response."""
    grace_seconds: float = 10.0
    """Seconds that streams may go on after a signal to stop."""
    max_connections: int = 1000
    requests_per_minute: int | None = None
    """Most requests of one token within a minute."""

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        return self.socket_path is not None or is_loopback_host(self.host)

    @property
    def address(self) -> str:
        """The URL of the server."""
        if self.socket_path is not None:
            return f"unix:{self.socket_path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.certificate else 'http'}://{host}:{self.port}"

    def allowed_hosts(self) -> frozenset[str]:
        """The names that a Host header may have, in lower case and without a port."""
        own = {f"[{self.host}]" if ":" in self.host else self.host}
        if not self.is_loopback:
            own |= {socket.gethostname(), socket.getfqdn()}
        return frozenset(name.lower() for name in (*LOOPBACK_NAMES, *own, *self.hosts))

    def check(self) -> None:
        """Raises `Refused` for settings that would let strangers in, or send tokens in clear text."""
        if self.is_loopback:
            return
        if self.token is None:
            raise Refused(f"Without a token, bough serves this machine only, and {self.host} is reachable from others.")
        if self.certificate is None and not self.behind_proxy:
            raise Refused(
                f"{self.host} is reachable from other machines, and tokens would be sent in clear text; nothing was "
                "started. Use --tls-cert and --tls-key, or --behind-proxy if a reverse proxy encrypts."
            )


def is_loopback_host(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def from_config(config: Config, **given: Any) -> ServerSettings:
    """The settings of `[server]`; `given` are those of the command line, and None leaves it to the configuration."""
    table = config.table("server")
    values: dict[str, Any] = {
        "host": table.get("host"),
        "port": table.get("port"),
        "hosts": tuple(map(str, table.get("hosts") or ())),
        "origins": tuple(origin.rstrip("/").lower() for origin in table.get("origins") or ()),
        "models": {str(name): str(spec) for name, spec in (table.get("models") or {}).items()},
        "proxies": {str(name): str(url) for name, url in (table.get("proxy") or {}).items()},
        "max_body": table.get("max_body"),
        "header_seconds": table.get("header_seconds"),
        "read_seconds": table.get("read_seconds"),
        "grace_seconds": table.get("grace"),
        "max_connections": table.get("max_connections"),
        "requests_per_minute": table.get("requests_per_minute"),
    } | {name: one for name, one in given.items() if one is not None}
    return ServerSettings(**{name: one for name, one in values.items() if one is not None})
