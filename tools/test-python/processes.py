"""Child processes: each has a process group of its own, so that ending one ends all that it started."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import Mapping, Sequence

# Serve's own shutdown is slow on a busy machine. If it is cut short, its application stays behind.
STOP_GRACE_S = 120


class ChildFailed(Exception):
    """A child ended, or stayed silent, before it printed what its caller waits for."""


class Child:
    """A running program. `output` grows with its lines."""

    def __init__(self, command: Sequence[str | Path], *, env: Mapping[str, str], cwd: Path) -> None:
        self.name = Path(command[0]).name
        self.output: list[str] = []
        self._changed = threading.Condition()
        self._is_closed = False
        self._process = subprocess.Popen(
            [str(part) for part in command],
            env={**os.environ, **env},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def wait_for(self, pattern: str, *, timeout_s: float) -> str:
        """The first line that matches. Raises `ChildFailed` with the last lines of its output."""
        matches = lambda: next((line for line in self.output if re.search(pattern, line)), None)
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or matches() is not None, timeout_s)
            line = matches()
        if line is None:
            tail = "\n".join(self.output[-30:])
            raise ChildFailed(f"{self.name} did not print {pattern!r} within {timeout_s} s:\n{tail}")
        return line

    def stop(self, first: signal.Signals = signal.SIGINT) -> None:
        """Sends a signal to end the group, then kills its remaining processes."""
        self._signal(first)
        try:
            self._process.wait(STOP_GRACE_S)
        except subprocess.TimeoutExpired:
            pass
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            pass

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._changed:
                self.output.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()


def run(
    command: Sequence[str | Path], *, env: Mapping[str, str] | None = None, cwd: Path | None = None, timeout_s: float = 600
) -> subprocess.CompletedProcess[str]:
    """Runs a program until it exits, with any status. Joins its two outputs."""
    return subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **(env or {})},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=timeout_s,
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_port_free(port: int) -> bool:
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.socket(family) as probe:
            if probe.connect_ex((address, port)) == 0:
                return False
    return True
