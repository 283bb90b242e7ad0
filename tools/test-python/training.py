"""The tests of the programs that train the repository's models."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

from environments import ROOT
from results import Results
from unit_tests import run_unit_tests

FOLDER = ROOT / "tools" / "train"
# Folder, environment, test modules.
PROGRAMS = (
    ("storyteller", "transformers", ("test_stories",)),
    ("house-price", "transformers", ("test_house_price",)),
)


def run_training_tests(results: Results, environment: Callable[[str], Path]) -> None:
    for name, packages, modules in PROGRAMS:
        env = {"PYTHONPATH": str(FOLDER / name), "PYTHONDONTWRITEBYTECODE": "1"}
        run_unit_tests(results, f"tools/train/{name}", environment(packages), modules, env=env)
