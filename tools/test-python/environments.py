"""Virtual environments from the pinned requirement files, one for each set of packages that agree with each other.

`environments.py NAME PROGRAM [OPTION…]` runs a program of Python in one.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CACHE = ROOT / "node_modules" / ".cache" / "test-python"
_run = partial(subprocess.run, check=True)


def environment(name: str) -> Path:
    """Makes it if its requirement file has changed; returns the folder with its programs."""
    requirements = HERE / "requirements" / f"{name}.txt"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    folder = CACHE / name
    mark = folder / "requirements.sha256"
    if not mark.exists() or mark.read_text() != wanted:
        print(f"Installing {requirements.relative_to(ROOT)}", flush=True)
        # uv keeps one copy of each package for all environments; pip would unpack PyTorch for each.
        uv = CACHE / "uv" / "bin" / "uv"
        if not uv.exists():
            _run([sys.executable, "-m", "venv", CACHE / "uv"])
            _run([uv.with_name("pip"), "install", "--quiet", "-r", HERE / "requirements" / "uv.txt"])
        _run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, folder])
        _run([uv, "pip", "sync", "--quiet", "--python", folder / "bin" / "python", requirements])
        mark.write_text(wanted)
    return folder / "bin"


if __name__ == "__main__":
    sys.exit(subprocess.run([environment(sys.argv[1]) / "python", *sys.argv[2:]]).returncode)
