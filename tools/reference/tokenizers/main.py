"""Writes the tables of characters and the references of tokenizers with `tokenizers`, in a virtual environment that it makes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parents[1] / "test-python"))

from environments import environment  # noqa: E402

NODE = ROOT / "node_modules" / ".bin" / "node"
TARGET = ROOT / "tools" / "reference" / "fixtures" / "tokenizer-components-reference.json"


def main() -> None:
    python = environment("transformers") / "python"
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "classes.json"
        subprocess.run([python, HERE / "classes.py", found], check=True)
        subprocess.run([NODE, HERE / "write-tables.ts", found], check=True)
    subprocess.run([python, HERE / "reference.py", TARGET], check=True)
    subprocess.run([python, HERE / "normalization.py"], check=True)


main()
