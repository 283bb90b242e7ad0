"""Writes src/worker/runtime/gpu-check/reference.json with huggingface/transformers, in a virtual environment that it makes."""

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
TARGET = ROOT / "src" / "worker" / "runtime" / "gpu-check" / "reference.json"


def main() -> None:
    python = environment("transformers") / "python"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([NODE, HERE / "write-checkpoints.ts", folder], check=True)
        subprocess.run([python, HERE / "reference.py", folder, TARGET], check=True)


main()
