"""The server and its model, which the command that runs these tests names, and what the tests have in common."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "reference" / "fixtures"
URL = os.environ["TABSERVE_URL"]
BASE = f"{URL}/v1"
MODEL = os.environ["MODEL"]
TOLERANCE = 1e-3
# The bridge needs no key, but the clients do not start without one.
KEY = "none"
CONTINUED = "Once upon a time,"
GREEDY_START = " there was a village without water."


def fixture(name):
    return json.loads((FIXTURES / f"{name}-reference.json").read_text())


class OpenAiTest(unittest.TestCase):
    def setUp(self):
        # Not every client brings it.
        import openai

        self.client = openai.OpenAI(base_url=BASE, api_key=KEY)
        self.chats = self.client.chat.completions
        self.addCleanup(self.client.close)


def report_of(program, *options):
    """The `report.json` that a program of this environment writes, and its output."""
    with tempfile.TemporaryDirectory() as folder:
        command = [Path(sys.executable).with_name(program), *options]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
        report = Path(folder) / "report.json"
        if done.returncode != 0 or not report.exists():
            raise AssertionError(f"{program} ended with {done.returncode}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
        return json.loads(report.read_text()), done.stdout
