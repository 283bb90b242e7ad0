"""Long runs of combining marks in each form of Unicode, as runs of equal characters: see README.md."""

from __future__ import annotations

import itertools
import json
import unicodedata
from pathlib import Path

CASES = (
    ("", "\u0327\u0301", 40),
    ("", "\u0301\u0327", 65_536),
    ("a", "\u0301\u0327\u0334\u0345", 20),
    ("\u01fb", "\u0323", 40),
    ("x", "\u0344\u0327", 30),
    ("x\u0f40", "\u0f73\u0f71\u0f72\u0f74", 20),
    ("\u0e01", "\u0e38\u0e48\u0e3a", 20),
    ("\u0915", "\u093c\u0903\u094d\u0301", 20),
    ("\u30ab", "\uff9e\u0301\uff9f\u0327", 20),
    ("e", "\u0301\U0001d165\u20d0", 20),
    ("e\u0334", "\u0300", 33),
)
FORMS = ("NFC", "NFD", "NFKC", "NFKD")


def runs(text: str) -> list:
    return [[character, len(list(group))] for character, group in itertools.groupby(text)]


def main() -> None:
    cases = [
        {"start": start, "marks": marks, "times": times, "forms": {form: runs(unicodedata.normalize(form, start + marks * times)) for form in FORMS}}
        for start, marks, times in CASES
    ]
    path = Path(__file__).resolve().parents[1] / "fixtures" / "normalization-reference.json"
    path.write_text(json.dumps({"cases": cases}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
