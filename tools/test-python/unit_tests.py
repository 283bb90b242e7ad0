"""Test modules of an environment, each test as a check of its own."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Mapping, Sequence

from environments import HERE
from processes import run
from results import Results

TIMEOUT_S = 900


def run_unit_tests(
    results: Results, subject: str, bin_folder: Path, modules: Sequence[str], *, env: Mapping[str, str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "results.json"
        command = [bin_folder / "python", HERE / "run_unittests.py", target, *modules]
        done = run(command, env=env, timeout_s=TIMEOUT_S)
        if not target.exists():
            results.add(subject, f"{', '.join(modules)} can be run", done.stdout[-4000:])
            return
        for test, failure in json.loads(target.read_text()).items():
            name = test.rsplit(".", 1)[-1].removeprefix("test_").replace("_", " ")
            results.add(subject, name, failure)
