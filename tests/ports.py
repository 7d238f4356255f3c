"""Ports of this machine for servers that tests start."""

from __future__ import annotations

import socket
from contextlib import suppress
from random import SystemRandom

PORTS = range(20_000, 32_000)
"""Below those that systems give to whoever asks for any."""


def free_port() -> int:
    """One that nobody listens at, and that the system gives to nobody else while a killed server is away from it."""
    while True:
        port = SystemRandom().choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def answers(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
