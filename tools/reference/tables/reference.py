"""Writes tables and JSON rows with the cells that Python's `csv` and `json` read from them and write. See README.md."""

from __future__ import annotations

import csv
import io
import json
import random

from support import COMPACT, FIXTURES, write_to

NAMES = ["name", "2024", "2023", "constructor", "__proto__", "prototype", "toString", "result", "error", "a b", "ä", "hasOwnProperty", "7", "error_"]
CELLS = ["", " ", "x", "1.10", "-1.5", "007", '"', '""', "a,b", "a;b", "a\tb", "two\nlines", "=1+1", "@x", "'", "é😀", "null", "\\n", "sep=;"]
NUMBERS = ["1413617112501850121", "1.10", "2.0", "1e400", "-0", "0.1e+2", "7", "123456789012345678901234567890", "5E-3"]


def tables(rng: random.Random) -> list[dict]:
    made = []
    for index in range(40):
        columns = rng.sample(NAMES, rng.randint(1, 6))
        rows = [[rng.choice(CELLS) for _ in columns] for _ in range(rng.randint(1, 6))]
        delimiter = rng.choice(",;\t|")
        text = written(
            [columns, *rows],
            delimiter=delimiter,
            lineterminator=rng.choice(["\n", "\r\n"]),
            quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
        )
        # Files whose separator would have to be guessed name it.
        head = f"sep={delimiter}\n"
        assert list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)) == [columns, *rows], index
        made.append({"text": head + text, "columns": columns, "rows": rows})
    return made


def exports(rng: random.Random) -> list[dict]:
    made = []
    for _ in range(20):
        columns = rng.sample([name for name in NAMES if name not in ("result", "error", "error_")], rng.randint(1, 5))
        rows = [[rng.choice(CELLS) for _ in [*columns, "result"]] for _ in range(rng.randint(1, 5))]
        text = written([[*columns, "result", "error"], *[[*row, ""] for row in rows]], lineterminator="\r\n")
        made.append({"columns": columns, "rows": rows, "text": text})
    return made


def written(rows: list[list[str]], **dialect) -> str:
    out = io.StringIO()
    csv.writer(out, **dialect).writerows(rows)
    return out.getvalue()


class Number(str):
    """A number as it is written."""


def json_rows(rng: random.Random) -> list[dict]:
    made = []
    for _ in range(100):
        text = random_object(rng, NAMES, depth=0)
        # Of two members of one name the last counts, in the place of the first.
        cells = json.loads(text, object_pairs_hook=dict, parse_float=Number, parse_int=Number)
        made.append({"text": text, "cells": [[name, cell(value)] for name, value in cells.items()]})
    return made


def random_object(rng: random.Random, names: list[str], depth: int) -> str:
    space = rng.choice(["", " ", "\n  ", "\t"])
    members = [
        f"{space}{json.dumps(rng.choice(names), ensure_ascii=rng.random() < 0.5)}{space}:{space}{random_value(rng, depth)}{space}"
        for _ in range(rng.randint(0 if depth else 1, 5))
    ]
    return f"{space}{{{','.join(members)}}}{space}"


def random_value(rng: random.Random, depth: int) -> str:
    kind = rng.choice(["number", "text", "constant"] + ["list", "object"] * (depth < 2))
    if kind == "number":
        return rng.choice(NUMBERS) if depth == 0 else str(rng.randint(0, 99))
    if kind == "text":
        return json.dumps(rng.choice(CELLS + ["{", "]", "\\", '\\"', "\u2028"]), ensure_ascii=rng.random() < 0.5)
    if kind == "constant":
        return rng.choice(["true", "false", "null"])
    if kind == "list":
        return f"[{', '.join(random_value(rng, depth + 1) for _ in range(rng.randint(0, 3)))}]"
    return random_object(rng, ["a", "b", "10", "9"], depth + 1)


def cell(value: object) -> dict:
    """Its text in a prompt or, of a value with others in it, the value."""
    if isinstance(value, (list, dict)):
        return {"value": nested(value)}
    if value is None:
        return {"text": ""}
    return {"text": str(value).lower() if isinstance(value, bool) else value}


def nested(value: object) -> object:
    if isinstance(value, dict):
        return {name: nested(each) for name, each in value.items()}
    if isinstance(value, list):
        return [nested(each) for each in value]
    return int(value) if isinstance(value, Number) else value


source = random.Random(44)
made = {"tables": tables(source), "exports": exports(source), "jsonRows": json_rows(source)}
write_to(FIXTURES / "tables.json", made, **COMPACT)
