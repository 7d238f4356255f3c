"""Ports of this machine for servers that tests start."""

from __future__ import annotations

import socket
from contextlib import suppress
from random import SystemRandom

PORTS = range(20_000, 32_000)
"""Below the range of ephemeral ports."""


def free_port() -> int:
    """A free port outside the ephemeral range, so that it stays free while a killed server is restarted."""
    while True:
        port = SystemRandom().choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def answers(port: int) -> bool:
    """Whether a server listens on the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
