"""Whether Python's jsonschema finds the answers valid that shapes of everyday types allow."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Callable

from environments import ROOT
from processes import run
from results import Results, expect
from tabserve import NODE

FOLDER = ROOT / "tools" / "reference" / "schemas"
SUBJECT = "zod and Pydantic"
NUM_TAKEN = 78


def run_schema_checks(results: Results, environment: Callable[[str], Path]) -> None:
    python = environment("schemas") / "python"

    def check() -> None:
        with tempfile.TemporaryDirectory() as folder:
            answers, verdict = Path(folder, "answers.json"), Path(folder, "verdict.json")
            for command in ([NODE, FOLDER / "write-answers.ts", answers], [python, "-B", FOLDER / "validate.py", answers, verdict]):
                done = run(command, cwd=ROOT)
                expect(done.returncode == 0, done.stdout[-3000:])
            judged = json.loads(verdict.read_text())
        print(f"{judged['taken']} of {judged['schemas']} schemas taken, {judged['answers']} answers, seed {judged['seed']}", flush=True)
        expect(not judged["wrong"], f"seed {judged['seed']}: " + "\n".join(judged["wrong"][:20]))
        expect(judged["taken"] >= NUM_TAKEN, f"refused: {', '.join(judged['refused'])}")

    results.run(SUBJECT, "jsonschema finds every answer to their everyday types valid", check)
