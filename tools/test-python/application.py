"""`deploy/ray-serve` on Ray: its own tests, and its config file as its README starts it, on a cluster of two cores."""

from __future__ import annotations

import json
from pathlib import Path

from environments import ROOT
from measure import ask, measure, wait_until_served
from ray_cluster import RayCluster
from results import Results, expect
from tutorials import ADDER_REQUESTS, GREEDY_REQUESTS, HOUSES, ROUNDS, Row, short
from unit_tests import run_unit_tests

SUBJECT = "deploy/ray-serve"
FOLDER = ROOT / "deploy" / "ray-serve"
URL = "http://localhost:8000"
PRICE_TOLERANCE = 1e-5
# The smallest machine that it must start on. Ray reserves cores, and a replica that does not fit never starts.
NUM_CPUS = 2


class Application:
    def __init__(self, bin_folder: Path, results: Results) -> None:
        self._bin = bin_folder
        self._results = results
        self.rows: list[Row] = []
        self.greedy: list[str] | None = None

    def run(self) -> None:
        path = [FOLDER, FOLDER / "tests"]
        with RayCluster(self._bin, num_cpus=NUM_CPUS, python_path=path) as ray:
            modules = sorted(file.stem for file in (FOLDER / "tests").glob("test_*.py"))
            run_unit_tests(self._results, SUBJECT, self._bin, modules, env=ray.env)
            with ray.serve(FOLDER / "serve.transformers.yaml", cwd=ROOT):
                check = self._results.run
                check(SUBJECT, "serve.transformers.yaml starts on two cores", lambda: wait_until_served(f"{URL}/healthz"))
                check(SUBJECT, "continues nine prompts greedily", self._texts)
                check(SUBJECT, "adds", self._adder)
                check(SUBJECT, "has the prices of the page's tests", self._prices)

    def _texts(self) -> None:
        load = measure(URL, GREEDY_REQUESTS, rounds=ROUNDS)
        self.greedy = load.answers
        batches = "up to 8, by its config"
        row = Row("text, greedy, 32 tokens, 9 at once", SUBJECT, short(load.answers[0]), batches)
        self.rows.append(Row(*row.cells()[:4], load.percentile(50), load.percentile(95)))

    def _adder(self) -> None:
        load = measure(URL, ADDER_REQUESTS, rounds=ROUNDS)
        expect(load.answers == [str(n + 1) for n in range(9)], f"Expected 1 to 9, got {load.answers}")
        self.rows.append(
            Row("adder, 9 at once", SUBJECT, "1 to 9", "up to 4", load.percentile(50), load.percentile(95))
        )

    def _prices(self) -> None:
        status, text = ask(f"{URL}/house-price", {"features": [house["features"] for house in HOUSES]})
        expect(status == 200, text)
        for price, house in zip(json.loads(text)["predictions"], HOUSES, strict=True):
            expect(abs(price / house["price"] - 1) < PRICE_TOLERANCE, f"Expected {house['price']}, got {price}")
