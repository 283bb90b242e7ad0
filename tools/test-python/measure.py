"""Answers, batches and latencies of one program on one system: a row of the table."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from environments import HERE

READY_TIMEOUT_S = 300


@dataclass(frozen=True)
class Load:
    answers: list[str]
    latencies_ms: list[float]

    def percentile(self, percent: int) -> str:
        """Nearest rank, in whole milliseconds."""
        ordered = sorted(self.latencies_ms)
        return f"{ordered[max(0, -(-len(ordered) * percent // 100) - 1)]:.0f}"


def measure(url: str, requests: Sequence[Mapping[str, Any]], *, rounds: int) -> Load:
    """All requests of a round at once, from a process of its own."""
    command = [sys.executable, str(HERE / "load.py"), url, str(rounds)]
    done = subprocess.run(command, input=json.dumps(list(requests)), capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"{url} did not answer all requests:\n{done.stderr[-2000:]}")
    body = json.loads(done.stdout)
    return Load(body["answers"], body["latenciesMs"])


def ask(url: str, body: Any = None) -> tuple[int, str]:
    """Status and text, of an error too."""
    data = None if body is None else json.dumps(body).encode()
    headers = {} if body is None else {"content-type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def wait_until_served(url: str) -> None:
    """Waits for an answer with status 200, because a config file is submitted long before its replicas start."""
    deadline = time.monotonic() + READY_TIMEOUT_S
    last = "nothing"
    while time.monotonic() < deadline:
        try:
            status, last = ask(url)
            if status == 200:
                return
        except OSError as error:
            last = str(error)
        time.sleep(0.5)
    raise TimeoutError(f"{url} did not answer within {READY_TIMEOUT_S} s, last: {last}")


def sizes_in_words(sizes: Sequence[int]) -> str:
    """`3 batches: 1, 4, 4`, or counts by size where there are many."""
    if len(sizes) <= 6:
        return ", ".join(map(str, sizes))
    counts = {size: list(sizes).count(size) for size in sorted(set(sizes), reverse=True)}
    return f"{', '.join(f'{count} × {size}' for size, count in counts.items())} (mean {statistics.mean(sizes):.1f})"


class Histogram:
    """Counts of a histogram of Tabserve's `/metrics` since this was made."""

    def __init__(self, url: str, name: str, label: str) -> None:
        self._url, self._name, self._label = url, name, label
        self._before = self._read()

    def in_words(self, noun: str) -> str:
        after = self._read()
        count, total = (after[key] - self._before[key] for key in ("count", "sum"))
        return f"{count:.0f} {noun}, mean {total / count:.1f}" if count else f"no {noun}"

    def _read(self) -> dict[str, float]:
        values = {"count": 0.0, "sum": 0.0}
        for line in ask(f"{self._url}/metrics")[1].splitlines():
            for key in values:
                if line.startswith(f"{self._name}_{key}") and self._label in line:
                    values[key] += float(line.rsplit(" ", 1)[1])
        return values
