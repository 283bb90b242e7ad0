"""Tabserve as a user starts it: the bridge, with a browser of its own as the tab that serves."""

from __future__ import annotations

import re
import signal
import tempfile

from environments import ROOT
from processes import Child, is_port_free

START_TIMEOUT_S = 300
NODE = ROOT / "node_modules" / ".bin" / "node"


class PortTaken(Exception):
    pass


class Tabserve:
    """`with Tabserve(8000) as tabserve`: `tabserve.url` answers, and `tabserve.backend` says what runs the model."""

    def __init__(self, port: int, *options: str) -> None:
        self.url = f"http://localhost:{port}"
        self._port = port
        self._options = options
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)

    def __enter__(self) -> Tabserve:
        require_port(self._port)
        options = ("--headless", "--backend", "wasm", "--no-open", "--log", "off", "--port", str(self._port))
        profile = ("--profile", self._profile.name, "--batch-folder", f"{self._profile.name}/batches")
        self._child = Child([NODE, "bridge/main.js", *options, *profile, *self._options], env={}, cwd=ROOT)
        try:
            line = self._child.wait_for(r" is ready on ", timeout_s=START_TIMEOUT_S)
        except BaseException:
            self._child.stop(signal.SIGTERM)
            raise
        ready = re.search(r"is ready on (.*?)\. Try", line)
        self.backend = ready.group(1) if ready else line
        return self

    def __exit__(self, *_: object) -> None:
        self._child.stop(signal.SIGTERM)
        self._profile.cleanup()


class ModelHub:
    """`with ModelHub() as hub`: a hub of this machine at `hub.url`, which has the chat model `hub.model`, `hub.tool_model`, which takes tools, `hub.embedding_model`, and `hub.pong_model`, which answers PONG."""

    def __enter__(self) -> ModelHub:
        self._child = Child([NODE, "tools/hub-server/main.ts"], env={}, cwd=ROOT)
        line = self._child.wait_for(r"^The hub at ", timeout_s=START_TIMEOUT_S)
        named = re.match(r"The hub at (\S+) has (\S+), (\S+), (\S+) and (\S+)\.$", line)
        self.url, self.model, self.tool_model, self.embedding_model, self.pong_model = named.groups()
        return self

    def __exit__(self, *_: object) -> None:
        self._child.stop(signal.SIGTERM)


def require_port(port: int) -> None:
    """The tutorials' lines name port 8000, so Ray and Tabserve take turns on it."""
    if not is_port_free(port):
        raise PortTaken(f"Port {port} is taken. Stop the program that listens on it, then run this again.")
