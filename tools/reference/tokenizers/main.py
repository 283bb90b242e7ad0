"""Writes tools/reference/fixtures/tokenizer-components-reference.json with `tokenizers`, in a virtual environment that it makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parents[1] / "test-python"))

from environments import environment  # noqa: E402

TARGET = ROOT / "tools" / "reference" / "fixtures" / "tokenizer-components-reference.json"

subprocess.run([environment("transformers") / "python", HERE / "reference.py", TARGET], check=True)
