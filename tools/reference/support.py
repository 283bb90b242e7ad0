"""What the writers of fixtures have in common."""

from __future__ import annotations

import hashlib
import itertools
import json
from pathlib import Path
from typing import Any, Iterable, Iterator

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FIXTURES = HERE / "fixtures"

COMPACT = {"separators": (",", ":")}
COMPACT_TEXT = {**COMPACT, "ensure_ascii": False}
INDENTED_TEXT = {"indent": 1, "ensure_ascii": False}


def read_json(path: str) -> Any:
    """A file of this folder."""
    return json.loads((HERE / path).read_text())


def write(name: str, value: object, **style: Any) -> None:
    write_to(FIXTURES / f"{name}-reference.json", value, **style)


def write_to(path: Path, value: object, **style: Any) -> None:
    text = json.dumps(value, **style)
    path.write_text(text + "\n")
    print(f"{path.relative_to(ROOT)}: {len(text.encode()) // 1000} kB", flush=True)


def files_of(folder: Path) -> dict[str, dict]:
    """A test compares them with what is generated, so that a changed generator cannot keep old values."""
    return {str(path.relative_to(folder)): describe(path) for path in sorted(folder.rglob("*")) if path.is_file()}


def describe(path: Path) -> dict:
    with path.open("rb") as file:
        return {"size": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def rounded(values: Iterable[float]) -> list[float]:
    """To seven digits."""
    return [float(f"{value:.7g}") for value in values]


def read_named(path: str) -> Any:
    """A file of this folder whose `names` stand for values: `"$user"` for that of `user`."""
    data = read_json(path)
    names = data.pop("names")
    return resolve(data, names)


def resolve(value: Any, names: dict[str, Any]) -> Any:
    if isinstance(value, str) and value.startswith("$") and value[1:] in names:
        return resolve(names[value[1:]], names)
    if isinstance(value, dict):
        return {name: resolve(part, names) for name, part in value.items()}
    return [resolve(part, names) for part in value] if isinstance(value, list) else value


def expand(entries: list, names: dict[str, Any]) -> Iterator[Any]:
    """`{"each": {name: values}, "of": entries}` is the entries with each combination of the values."""
    for entry in entries:
        if not (isinstance(entry, dict) and "each" in entry):
            yield resolve(entry, names)
            continue
        for values in itertools.product(*resolve(list(entry["each"].values()), names)):
            yield from expand(entry["of"], {**names, **dict(zip(entry["each"], values))})
