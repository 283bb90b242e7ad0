"""Programs that run while a block lasts, and end with all that they started."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Iterator, Mapping, Sequence

from environments import ROOT

NODE = ROOT / "node_modules" / ".bin" / "node"
START_TIMEOUT_S = 900
# Serve's own shutdown is slow on a busy machine. If it is cut short, its replicas stay behind.
STOP_GRACE_S = 120


@contextmanager
def running(
    command: Sequence[str | Path], ready: str, *, env: Mapping[str, str] | None = None, cwd: Path = ROOT
) -> Iterator[re.Match[str]]:
    """Yields the match in the program's output that says that it is ready. Ctrl+C ends it."""
    with tempfile.NamedTemporaryFile() as output:
        process = subprocess.Popen(
            command,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        read = lambda: Path(output.name).read_text(errors="replace")
        try:
            deadline = time.monotonic() + START_TIMEOUT_S
            while not (match := re.search(ready, read())):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{command[0]} did not print {ready!r}:\n{read()[-4000:]}")
                time.sleep(0.2)
            yield match
        finally:
            with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, signal.SIGINT)
                process.wait(STOP_GRACE_S)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def tabserve(*options: str, port: int = 0) -> Iterator[str]:
    """Tabserve as a user starts it, with a browser of its own as the tab that serves. Yields its URL."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        backend = () if "--upstream" in options else ("--backend", "wasm")
        fixed = ("--headless", *backend, "--log", "off", "--port", str(port))
        own = (*fixed, "--profile", folder, "--batch-folder", f"{folder}/batches")
        with running([NODE, "bridge/main.js", *own, *options], r"is ready on .*(http://localhost:\d+)") as ready:
            yield ready.group(1)
