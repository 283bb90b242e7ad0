"""A Ray cluster of one machine, on loopback, that leaves nothing behind."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator, Mapping, Sequence

from environments import ROOT
from processes import Child, ChildFailed, free_port, run

START_TIMEOUT_S = 300
MAX_STARTS = 3
SERVED = r"Application '.*' is ready|Submitted deploy config"
OBJECT_STORE_BYTES = 150_000_000


BATCH_LINE = re.compile(r"Our input array has (?:length|shape): \(?(\d+)")


class RayCluster:
    """`with RayCluster(bin, num_cpus=2) as ray`: programs that run with `ray.env` are connected to it.

    `num_cpus` is what Ray may reserve; it need not be the number of cores.
    """

    def __init__(
        self,
        bin_folder: Path,
        *,
        num_cpus: int,
        python_path: Sequence[Path] = (),
        env: Mapping[str, str] | None = None,
        cwd: Path = ROOT,
    ) -> None:
        """`cwd`: replicas open relative paths from here, wherever the program that deploys them runs."""
        self.bin = bin_folder
        self._cwd = cwd
        self._num_cpus = num_cpus
        port = free_port()
        # Sockets lie in it, and the path of a socket has at most 107 bytes.
        self._folder = Path(tempfile.mkdtemp(prefix="ray-"))
        self.env: Mapping[str, str] = {
            "RAY_ADDRESS": f"127.0.0.1:{port}",
            # Ray 2.60 requires a token by default, and would store one in the home folder.
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(16),
            "RAY_USAGE_STATS_ENABLED": "0",
            # Equal lines count as separate batches, so none may be merged.
            "RAY_DEDUP_LOGS": "0",
            "RAY_COLOR_PREFIX": "0",
            "HF_HUB_OFFLINE": "1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "CUDA_VISIBLE_DEVICES": "",
            "PYTHONPATH": os.pathsep.join(map(str, python_path)),
            "PYTHONDONTWRITEBYTECODE": "1",
            **(env or {}),
        }
        self._port = port

    def __enter__(self) -> RayCluster:
        self._head = self._start(self._start_head, "Ray runtime started")
        return self

    def _start_head(self) -> Child:
        command = [
            *(self.bin / "ray", "start", "--head", "--block", "--disable-usage-stats", "--include-dashboard=false"),
            *("--node-ip-address=127.0.0.1", f"--port={self._port}", f"--num-cpus={self._num_cpus}"),
            *(f"--object-store-memory={OBJECT_STORE_BYTES}", f"--temp-dir={self._folder}"),
        ]
        return Child(command, env=self.env, cwd=self._cwd)

    def __exit__(self, *_: object) -> None:
        self._head.stop(signal.SIGTERM)
        shutil.rmtree(self._folder, ignore_errors=True)

    @contextmanager
    def serve(self, target: str | Path, *options: str, cwd: Path) -> Iterator[Child]:
        """`serve run` of a config file, which is submitted then, or of `module:application`, which answers then."""
        child = self._start(lambda: Child([self.bin / "serve", "run", target, *options], env=self.env, cwd=cwd), SERVED)
        try:
            yield child
        finally:
            # Ctrl+C takes the application down; the cluster stays.
            child.stop()

    def _start(self, start: Callable[[], Child], pattern: str) -> Child:
        """Tries again where Ray gives up: it waits 30 s for a node and 60 s for a proxy, which a busy machine can exceed."""
        for attempt in range(1, MAX_STARTS + 1):
            child = start()
            try:
                child.wait_for(pattern, timeout_s=START_TIMEOUT_S)
                return child
            except BaseException as error:
                child.stop()
                if attempt == MAX_STARTS or not isinstance(error, ChildFailed):
                    raise
        raise AssertionError("MAX_STARTS is at least 1")

    def python(self, *arguments: str | Path, cwd: Path, timeout_s: float = 300) -> subprocess.CompletedProcess[str]:
        return run([self.bin / "python", *arguments], env=self.env, cwd=cwd, timeout_s=timeout_s)

    def batch_sizes(self) -> list[int]:
        """Everything that the tutorials' programs have printed on this cluster so far, in the order of each replica."""
        files = sorted(self._folder.glob("session_latest/logs/worker-*.out"), key=lambda file: file.stat().st_mtime)
        return [int(size) for file in files for size in BATCH_LINE.findall(file.read_text(errors="replace"))]
