"""Writes the fixtures of chat templates with huggingface/transformers, in a virtual environment that it makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "test-python"))

from environments import environment  # noqa: E402

subprocess.run([environment("chat-templates") / "python", "-B", HERE / "reference.py"], check=True)
