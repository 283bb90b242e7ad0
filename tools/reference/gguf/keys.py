"""Writes the keys that llama.cpp's own Python package (gguf) knows, with {arch} for the architecture: see README.md."""

import json
from pathlib import Path

from gguf.constants import Keys

FIXTURE = Path(__file__).parents[1] / "fixtures" / "gguf-keys-reference.json"


def keys_of(group: type) -> list[str]:
    """The keys of a class, and of the classes in it."""
    keys = []
    for name, value in vars(group).items():
        if isinstance(value, type):
            keys += keys_of(value)
        elif isinstance(value, str) and not name.startswith("__"):
            keys.append(value)
    return keys


FIXTURE.write_text(json.dumps(sorted(set(keys_of(Keys))), indent=2) + "\n")
