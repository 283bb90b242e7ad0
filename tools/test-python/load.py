"""Sends the same requests in rounds, all requests of a round at once, and prints latencies and answers as JSON.

`load.py URL ROUNDS` reads a list of requests from standard input: `{"path": "/adder?number=1"}`, and `"json"` for a POST.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

TIMEOUT_S = 120


def send(url: str, request: dict[str, Any]) -> tuple[str, float]:
    """The body of the answer, and how long it took in milliseconds."""
    body = json.dumps(request["json"]).encode() if "json" in request else None
    headers = {"content-type": "application/json"} if body else {}
    begin = time.perf_counter()
    with urllib.request.urlopen(urllib.request.Request(url + request["path"], body, headers), timeout=TIMEOUT_S) as answer:
        text = answer.read().decode()
    return text, (time.perf_counter() - begin) * 1000


def main() -> None:
    url, rounds = sys.argv[1], int(sys.argv[2])
    requests = json.load(sys.stdin)
    answers: list[str] = []
    latencies: list[float] = []
    with ThreadPoolExecutor(len(requests)) as pool:
        for _ in range(rounds):
            results = list(pool.map(lambda request: send(url, request), requests))
            answers = [text for text, _ in results]
            latencies += [ms for _, ms in results]
    print(json.dumps({"answers": answers, "latenciesMs": latencies}))


if __name__ == "__main__":
    main()
