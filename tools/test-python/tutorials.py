"""The tutorials' programs and client lines on Ray Serve, and the same lines on Tabserve."""

from __future__ import annotations

import ast
import json
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable
from urllib.parse import quote_plus

from environments import HERE, ROOT
from measure import Histogram, Load, ask, measure, sizes_in_words
from processes import run
from ray_cluster import RayCluster
from results import Results, expect
from tabserve import Tabserve

PORT = 8000
URL = f"http://localhost:{PORT}"
SEEDS = HERE / "seeds"
STORYTELLER = ROOT / "public" / "models" / "storyteller"
HOUSE_PRICE = ROOT / "public" / "models" / "house-price"
# Cores that Ray may reserve: one for each of a client's nine tasks at once, and for each replica.
NUM_CPUS = 12
TEXTS = ast.literal_eval(
    re.search(r"texts = (\[.*?\])", (SEEDS / "text_generator" / "requests_client.py").read_text(), re.S).group(1)
)
TEXT_REQUESTS = [{"path": f"/?text={quote_plus(text)}"} for text in TEXTS]
GREEDY_REQUESTS = [{"path": f"{request['path']}&temperature=0&maxNewTokens=32"} for request in TEXT_REQUESTS]
"""Their answers are the same on every system that runs the model."""
ADDER_REQUESTS = [{"path": f"/adder?number={number}"} for number in range(9)]
HOUSES = json.loads((ROOT / "tools" / "reference" / "fixtures" / "house-price-reference.json").read_text())["houses"][:32]
PRICE_TOLERANCE = 1e-4
ROUNDS = 5

RAY, TABSERVE = "Ray Serve", "Tabserve"


@dataclass(frozen=True)
class Row:
    program: str
    system: str
    answers: str
    batches: str
    p50: str = ""
    p95: str = ""

    def cells(self) -> list[str]:
        return [self.program, self.system, self.answers, self.batches, self.p50, self.p95]


COLUMNS = ["program or line", "system", "answers", "batches formed", "p50, ms", "p95, ms"]


@dataclass(frozen=True)
class Printed:
    """A program as its tutorial prints it, and the error that it ends with."""

    file: str
    error: str
    reason: str


PRINTED = [
    Printed("text_generator/printed_server.py", r"AttributeError: .*'bind'", "the print lost both decorators"),
    Printed("text_generator/printed_requests.py", "SyntaxError", "the print lost `requests.post(` and a bracket"),
    Printed("text_generator/printed_handle.py", "SyntaxError", "the print lost a bracket"),
    Printed("adder/printed.py", r"AttributeError: .*'remote'", "the print lost `@ray.remote`"),
    Printed("adder/printed_handle.py", r"AttributeError: .*'get_handle'", "Ray 2 has no `get_handle`"),
    Printed("house_price/printed.py", "IndentationError", "the print lost the indentation"),
    Printed("house_price/batching_config.py", "TypeError: .*batching_config", "Ray has no `batching_config`"),
]


class Tutorials:
    def __init__(self, bin_folder: Path, results: Results, greedy: list[str] | None) -> None:
        """`greedy`: the answers of our application on Ray to `GREEDY_REQUESTS`, where it has run."""
        self._bin = bin_folder
        self._greedy = greedy
        self._results = results
        self.rows: list[Row] = []
        # A program that was printed, and the error that it ends with.
        self.printed: list[tuple[str, str, str]] = []
        self._work = Path(tempfile.mkdtemp(prefix="tutorials-"))

    def run(self) -> None:
        folders = [SEEDS / name for name in ("text_generator", "adder", "house_price")]
        reader = ROOT / "tools" / "train" / "house-price"
        env = {"STORYTELLER": str(STORYTELLER)}
        try:
            with RayCluster(self._bin, num_cpus=NUM_CPUS, python_path=[*folders, reader], env=env, cwd=self._work) as ray:
                self._run_printed(ray)
                for part in (self._adder, self._sketch, self._text_generator, self._house_price):
                    self._claim(RAY, part.__doc__ or "", lambda: part(ray))
                with Tabserve(PORT) as tabserve:
                    self._on_tabserve(ray, tabserve)
        finally:
            shutil.rmtree(self._work)

    def _claim(self, system: str, claim: str, action: Callable[[], None]) -> None:
        self._results.run(f"Tutorials on {system}", claim, action)

    def _run_printed(self, ray: RayCluster) -> None:
        for printed in PRINTED:
            done = ray.python(printed.file, cwd=SEEDS)
            last = next((line for line in reversed(done.stdout.splitlines()) if re.search(r"^\w+Error", line)), "no error")
            self.printed.append((printed.file, last, printed.reason))
            self._claim(RAY, f"{printed.file} as printed: {printed.reason}", lambda: _expect_error(last, printed.error))
        done = ray.python("-c", "from transformers import pipeline; pipeline('text-generation', 'gpt2')", cwd=SEEDS)
        last = next((line for line in reversed(done.stdout.splitlines()) if "Error" in line), "no error")
        self.printed.append(('pipeline("text-generation", "gpt2")', last, "no hub is reached"))

    def _adder(self, ray: RayCluster) -> None:
        """the adder of the second tutorial adds, in batches of at most 4"""
        folder = SEEDS / "adder"
        with ray.serve("batch_adder:adder", "--route-prefix", "/adder", cwd=folder):
            self._adder_client(ray, RAY)
            mark = len(ray.batch_sizes())
            done = ray.python("handle.py", cwd=folder)
            expect("Result batch is [1, 2, 3, 4, 5, 6, 7, 8, 9]" in done.stdout, done.stdout[-2000:])
            sizes = ray.batch_sizes()[mark:]
            self.rows.append(Row("adder, handle", RAY, "1 to 9", sizes_in_words(sizes)))
            mark = len(ray.batch_sizes())
            load = measure(URL, ADDER_REQUESTS, rounds=ROUNDS)
            self._adder_load(RAY, load, sizes_in_words(ray.batch_sizes()[mark:]))
            expect(max(ray.batch_sizes()) == 4, f"Expected batches of 4 at most, got {ray.batch_sizes()}")

    def _adder_client(self, ray: RayCluster, system: str) -> None:
        mark = len(ray.batch_sizes())
        histogram = Histogram(URL, "serve_actual_batch_size", 'deployment="adder"') if system == TABSERVE else None
        done = ray.python("client.py", cwd=SEEDS / "adder")
        expect("Result returned: [1, 2, 3, 4, 5, 6, 7, 8, 9]" in done.stdout, done.stdout[-2000:])
        batches = histogram.in_words("batches") if histogram else sizes_in_words(ray.batch_sizes()[mark:])
        self.rows.append(Row("adder, 9 Ray tasks", system, "1 to 9", batches))

    def _adder_load(self, system: str, load: Load, batches: str) -> None:
        expect([int(answer) for answer in load.answers] == [*range(1, 10)], f"Expected 1 to 9, got {load.answers}")
        self._row("adder, 9 at once", system, "1 to 9", batches, load)

    def _sketch(self, ray: RayCluster) -> None:
        """the first tutorial's sketch fails as it stands: it answers with coroutines"""
        with ray.serve("sketch_served:app", cwd=SEEDS / "text_generator"):
            status, _ = ask(f"{URL}/?text=a")
        expect(status == 500, f"Expected 500, got {status}")
        self.printed.append(("text_generator/sketch.py", "HTTP 500", "`request.json()` is a coroutine, which no replica can send"))

    def _text_generator(self, ray: RayCluster) -> None:
        """the text generator of the first tutorial continues all prompts, in batches of at most 4"""
        folder = SEEDS / "text_generator"
        with ray.serve("tutorial_batch:generator", "--name", "Text-Completion-App", cwd=folder):
            mark = len(ray.batch_sizes())
            self._curl(RAY, lambda: sizes_in_words(ray.batch_sizes()[mark:]))
            for program, name in (("requests_client.py", "9 Ray tasks"), ("handle_client.py", "handle")):
                mark = len(ray.batch_sizes())
                self._text_client(ray, RAY, program, name, lambda: sizes_in_words(ray.batch_sizes()[mark:]))
            mark = len(ray.batch_sizes())
            load = measure(URL, TEXT_REQUESTS, rounds=ROUNDS)
            self._text_load(RAY, load, sizes_in_words(ray.batch_sizes()[mark:]))

    def _curl(self, system: str, batches: Callable[[], str]) -> None:
        done = run(["curl", "--silent", "--show-error", f"{URL}/?text=Once+upon+a+time"])
        expect(done.stdout.startswith("Once upon a time"), done.stdout)
        self.rows.append(Row('curl "/?text=Once+upon+a+time"', system, short(done.stdout), batches()))

    def _text_client(self, ray: RayCluster, system: str, program: str, name: str, batches: Callable[[], str]) -> None:
        done = ray.python(program, cwd=SEEDS / "text_generator")
        line = re.search(r"^Result (?:returned:|batch is) (.*)$", done.stdout, re.M)
        expect(line is not None, done.stdout[-2000:])
        texts = ast.literal_eval(line.group(1))
        _expect_continuations(texts)
        self.rows.append(Row(f"text generator, {name}", system, short(texts[0]), batches()))

    def _text_load(self, system: str, load: Load, batches: str) -> None:
        _expect_continuations(load.answers)
        self._row("text generator, 9 at once", system, short(load.answers[0]), batches, load)

    def _house_price(self, ray: RayCluster) -> None:
        """the house prices of the third tutorial are those of our model, batched and not"""
        writer = SEEDS / "house_price" / "write_keras_model.py"
        files = (HOUSE_PRICE / "model.onnx", self._work / "house_price_model.h5")
        done = ray.python(writer, *files, cwd=self._work)
        expect(done.returncode == 0, done.stdout[-2000:])
        try:
            for program, name in (("unbatched.py", "house price, no batches"), ("batched.py", "house price, 32 at once")):
                self._price_program(ray, program, name)
        finally:
            # Such a program leaves its application running, on the port that Tabserve takes next.
            done = ray.python("-c", "from ray import serve; serve.shutdown()", cwd=self._work)
        expect(done.returncode == 0, done.stdout[-2000:])

    def _price_program(self, ray: RayCluster, program: str, name: str) -> None:
        done = ray.python(SEEDS / "house_price" / program, cwd=self._work, timeout_s=400)
        expect(done.returncode == 0, done.stdout[-2000:])
        mark = len(ray.batch_sizes())
        # The tutorial converts all of `features` to one tensor: without @serve.batch it has to be a list of houses.
        is_list = program == "unbatched.py"
        bodies = [[house["features"]] if is_list else house["features"] for house in HOUSES]
        requests = [{"path": "/", "json": {"features": features}} for features in bodies]
        load = measure(URL, requests, rounds=ROUNDS)
        sizes = ray.batch_sizes()[mark:]
        self._price_load(name, RAY, load, sizes_in_words(sizes) if sizes else "none")

    def _price_load(self, program: str, system: str, load: Load, batches: str) -> None:
        flat = lambda value: flat(value[0]) if isinstance(value, list) else value
        prices = [flat(json.loads(answer)["predictions"]) for answer in load.answers]
        for price, house in zip(prices, HOUSES, strict=True):
            expect(abs(price / house["price"] - 1) < PRICE_TOLERANCE, f"Expected {house['price']}, got {price}")
        self._row(program, system, f"{prices[0]:,.0f} €", batches, load)

    def _on_tabserve(self, ray: RayCluster, tabserve: Tabserve) -> None:
        """The client lines alone: a handle is Ray's."""
        steps = lambda: Histogram(URL, "vllm:iteration_tokens_total", "")

        def curl() -> None:
            before = steps()
            self._curl(TABSERVE, lambda: before.in_words("steps"))

        def texts() -> None:
            before = steps()
            self._text_client(ray, TABSERVE, "requests_client.py", "9 Ray tasks", lambda: before.in_words("steps"))
            before = steps()
            load = measure(URL, TEXT_REQUESTS, rounds=ROUNDS)
            self._text_load(TABSERVE, load, before.in_words("steps"))

        def adder() -> None:
            self._adder_client(ray, TABSERVE)
            before = Histogram(URL, "serve_actual_batch_size", 'deployment="adder"')
            load = measure(URL, ADDER_REQUESTS, rounds=ROUNDS)
            self._adder_load(TABSERVE, load, before.in_words("batches"))

        def house_price() -> None:
            before = Histogram(URL, "serve_actual_batch_size", 'deployment="house-price"')
            requests = [{"path": "/house-price", "json": {"features": house["features"]}} for house in HOUSES]
            load = measure(URL, requests, rounds=ROUNDS)
            self._price_load("house price, 32 at once", TABSERVE, load, before.in_words("batches"))

        def greedy() -> None:
            before = steps()
            load = measure(URL, GREEDY_REQUESTS, rounds=ROUNDS)
            self._row("text, greedy, 32 tokens, 9 at once", TABSERVE, short(load.answers[0]), before.in_words("steps"), load)
            if self._greedy is not None:
                expect(load.answers == self._greedy, f"Expected {self._greedy}, got {load.answers}")

        for claim, action in (
            ("greedy texts are those of deploy/ray-serve", greedy),
            ("curl's line is answered", curl),
            ("the text client of the first tutorial is answered", texts),
            ("the adder's client of the second tutorial is answered", adder),
            ("the third tutorial's body is answered", house_price),
        ):
            self._claim(TABSERVE, claim, action)

    def _row(self, program: str, system: str, answers: str, batches: str, load: Load) -> None:
        self.rows.append(Row(program, system, answers, batches, load.percentile(50), load.percentile(95)))


def _expect_error(line: str, pattern: str) -> None:
    expect(re.search(pattern, line) is not None, f"Expected {pattern}, got: {line}")


def _expect_continuations(texts: list[str]) -> None:
    for text, prompt in zip(texts, TEXTS, strict=True):
        expect(text.startswith(prompt) and len(text) > len(prompt), f"Expected {prompt!r} and more, got {text!r}")


def short(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[:47]}…”" if len(line) > 48 else f"“{line}”"
