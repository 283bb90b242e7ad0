"""Virtual environments from the pinned requirement files, one for each set of packages that agree with each other."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CACHE = ROOT / "node_modules" / ".cache" / "test-python"
REQUIREMENTS = HERE / "requirements"


def environment(name: str) -> Path:
    """Makes it if its requirement file has changed; returns the folder with its programs."""
    requirements = REQUIREMENTS / f"{name}.txt"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    folder = CACHE / name
    mark = folder / "requirements.sha256"
    if not mark.exists() or mark.read_text() != wanted:
        print(f"Installing {requirements.relative_to(ROOT)}", flush=True)
        uv = _uv()
        _check(uv, "venv", "--quiet", "--clear", "--python", sys.executable, folder)
        _check(uv, "pip", "sync", "--quiet", "--python", folder / "bin" / "python", requirements)
        mark.write_text(wanted)
    return folder / "bin"


def version_of(bin_folder: Path, package: str) -> str:
    program = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    return _output(bin_folder / "python", "-c", program, package).strip()


def _uv() -> Path:
    """uv keeps one copy of each package for all environments; pip would unpack PyTorch twice."""
    folder = CACHE / "uv"
    if not (folder / "bin" / "uv").exists():
        _check(sys.executable, "-m", "venv", folder)
        _check(folder / "bin" / "pip", "install", "--quiet", "-r", REQUIREMENTS / "uv.txt")
    return folder / "bin" / "uv"


def _check(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], check=True)


def _output(*command: str | Path) -> str:
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    print(environment(sys.argv[1]))
