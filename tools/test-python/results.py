"""The checks and their outcomes."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Callable, Sequence


@dataclass(frozen=True)
class Check:
    subject: str
    claim: str
    failure: str | None


class Results:
    def __init__(self) -> None:
        self.checks: list[Check] = []

    def add(self, subject: str, claim: str, failure: str | None = None) -> None:
        self.checks.append(Check(subject, claim, failure))
        print(f"{'ok    ' if failure is None else 'FAILED'} {subject}: {claim}", flush=True)
        if failure is not None:
            print(failure, flush=True)

    def run(self, subject: str, claim: str, action: Callable[[], None]) -> None:
        """`action` raises if the claim does not hold. Later checks still run."""
        try:
            action()
        except Exception:
            self.add(subject, claim, traceback.format_exc())
        else:
            self.add(subject, claim)

    @property
    def num_failed(self) -> int:
        return sum(check.failure is not None for check in self.checks)

    def subjects(self) -> list[tuple[str, int, int]]:
        """The subjects in order of their first check, each with its numbers of passed and failed checks."""
        names = list(dict.fromkeys(check.subject for check in self.checks))
        return [
            (name, sum(c.failure is None for c in own), sum(c.failure is not None for c in own))
            for name in names
            for own in [[check for check in self.checks if check.subject == name]]
        ]


def expect(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(columns), *cells]) for i in range(len(columns))]
    line = lambda row: "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
    return "\n".join([line(columns), "| " + " | ".join("-" * width for width in widths) + " |", *map(line, cells)])
