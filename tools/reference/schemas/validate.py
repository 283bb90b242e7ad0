"""Judges answers by jsonschema, formats included: `validate.py ANSWERS VERDICT`."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator


def main() -> None:
    source, target = map(Path, sys.argv[1:])
    run = json.loads(source.read_text())
    answered = run["answered"]
    taken = [each for each in answered if each["answers"] is not None]
    target.write_text(
        json.dumps(
            {
                "seed": run["seed"],
                "schemas": len(answered),
                "taken": len(taken),
                "answers": sum(len(each["answers"]) for each in taken),
                "refused": [name_of(each) for each in answered if each["answers"] is None],
                "wrong": [
                    f"{name_of(each)}: {answer}" for each in taken for answer in each["answers"] if not is_valid(answer, each["schema"])
                ],
            }
        )
    )


def name_of(schema: dict[str, Any]) -> str:
    return f"{schema['source']}: {schema['name']}"


def is_valid(answer: str, schema: str) -> bool:
    """Numbers stay decimal, so that 0.29 is a multiple of 0.01."""
    validator = Draft202012Validator(decimal_json(schema), format_checker=Draft202012Validator.FORMAT_CHECKER)
    try:
        return validator.is_valid(decimal_json(answer))
    except json.JSONDecodeError:
        return False


def decimal_json(text: str) -> Any:
    return json.loads(text, parse_float=Decimal)


main()
