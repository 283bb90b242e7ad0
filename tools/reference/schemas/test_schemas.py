"""Whether Python's jsonschema finds the answers valid that shapes of everyday types allow, formats included."""

from __future__ import annotations

import json
import subprocess
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from servers import NODE

WRITER = Path(__file__).with_name("write-answers.ts")
NUM_TAKEN = 78


class Schemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        with tempfile.NamedTemporaryFile() as answers:
            subprocess.run([NODE, WRITER, answers.name], check=True)
            written = json.load(answers)
        cls.seed, cls.answered = written["seed"], written["answered"]
        cls.taken = [each for each in cls.answered if each["answers"] is not None]

    def test_takes_nearly_all_everyday_types(self) -> None:
        refused = [name_of(each) for each in self.answered if each["answers"] is None]
        self.assertGreaterEqual(len(self.taken), NUM_TAKEN, f"refused: {', '.join(refused)}")

    def test_every_answer_is_valid(self) -> None:
        self.assertTrue(any(each["answers"] for each in self.taken))
        for each in self.taken:
            wrong = [answer for answer in each["answers"] if not is_valid(answer, each["schema"])]
            self.assertEqual(wrong, [], f"{name_of(each)}, seed {self.seed}")


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
