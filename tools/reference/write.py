"""Writes fixtures from programs that aren't ours, in a virtual environment that it makes: `write.py NAME`.

A writer gets the path of a folder with the files of `write-inputs.ts NAME`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "test-python"))

from environments import environment  # noqa: E402

NODE = ROOT / "node_modules" / ".bin" / "node"

# By name: the environment, and the writers.
WRITERS = {
    "decoders": ("transformers", "decoder/reference.py"),
    "encoders": ("transformers", "encoder/reference.py"),
    "checkpoints": ("transformers", "gpt2/reference.py"),
    "gpu-check": ("transformers", "gpu-check/reference.py"),
    "int8": ("numpy", "int8/reference.py"),
    "gguf": ("transformers", "gguf/reference.py"),
    "gguf-decoders": ("transformers", "gguf/decoders.py"),
    "gguf-llama": ("llama", "gguf/llama.py"),
    "chat-templates": ("transformers", "chat-templates/reference.py"),
    "tokenizers": ("transformers", "tokenizers/components.py", "tokenizers/texts.py"),
    "tables": (None, "tables/reference.py"),
    "onnx": ("onnx", "onnx/reference.py"),
}


def main(name: str) -> None:
    if name not in WRITERS:
        raise SystemExit(f"Nothing is named {name}: it is one of {', '.join(WRITERS)}, or one that `npm run write` lists.")
    packages, *scripts = WRITERS[name]
    python = environment(packages) / "python" if packages else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([NODE, HERE / "inputs" / "write-inputs.ts", name, folder], check=True)
        for script in scripts:
            env = {**os.environ, "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}
            subprocess.run([python, HERE / script, folder], check=True, env=env)


main(*sys.argv[1:])
