"""Runs test modules and writes the outcome of each test as JSON: `run_unittests.py RESULTS MODULE…`."""

from __future__ import annotations

import json
import sys
import unittest
from pathlib import Path


class Recorder(unittest.TextTestResult):
    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.entries: dict[str, str | None] = {}

    def startTest(self, test) -> None:
        super().startTest(test)
        self.entries[test.id()] = None

    def addError(self, test, error) -> None:
        super().addError(test, error)
        self._fail(test, error)

    def addFailure(self, test, error) -> None:
        super().addFailure(test, error)
        self._fail(test, error)

    def addSubTest(self, test, subtest, error) -> None:
        super().addSubTest(test, subtest, error)
        if error is not None:
            self._fail(test, error)

    def _fail(self, test, error) -> None:
        # A module whose set-up fails has an id of its own, and none of its tests runs.
        self.entries[test.id()] = self._exc_info_to_string(error, test)


def main() -> None:
    target, *modules = sys.argv[1:]
    suite = unittest.defaultTestLoader.loadTestsFromNames(modules)
    result = unittest.TextTestRunner(verbosity=2, resultclass=Recorder).run(suite)
    Path(target).write_text(json.dumps(result.entries))


if __name__ == "__main__":
    main()
