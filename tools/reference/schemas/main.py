"""Writes tools/reference/fixtures/everyday-schemas-reference.json: what zod and Pydantic make of their types."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parents[1] / "test-python"))

from environments import environment  # noqa: E402

NODE = ROOT / "node_modules" / ".bin" / "node"
TARGET = HERE.parent / "fixtures" / "everyday-schemas-reference.json"


def main() -> None:
    python = environment("schemas") / "python"
    with tempfile.TemporaryDirectory() as folder:
        by_zod, by_pydantic = Path(folder, "zod.json"), Path(folder, "pydantic.json")
        subprocess.run([NODE, HERE / "write-zod.ts", by_zod], check=True)
        subprocess.run([python, "-B", HERE / "reference.py", by_pydantic], check=True)
        schemas = json.loads(by_zod.read_text()) + json.loads(by_pydantic.read_text())
    TARGET.write_text(json.dumps(schemas, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(schemas)} schemas in {TARGET.relative_to(ROOT)}")


main()
