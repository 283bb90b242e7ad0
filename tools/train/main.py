"""Runs one of the programs beside this in a virtual environment that it makes: `python3 tools/train/main.py PROGRAM [OPTION…]`."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "test-python"))

from environments import environment  # noqa: E402


def main() -> None:
    programs = [str(path.relative_to(HERE)) for path in sorted(HERE.glob("*/*.py")) if "__main__" in path.read_text("utf-8")]
    if len(sys.argv) < 2 or sys.argv[1] not in programs:
        raise SystemExit(f"Usage: python3 tools/train/main.py PROGRAM [OPTION…], of {', '.join(programs)}")
    sys.exit(subprocess.run([environment("transformers") / "python", HERE / sys.argv[1], *sys.argv[2:]]).returncode)


main()
