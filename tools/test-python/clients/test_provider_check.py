"""TrustedRouter's check of OpenAI-compatible servers, all its tiers, as its command line runs it."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from asked import MODEL, URL

# The catalog is a document of a marketplace, not of a server. The benchmark, which gives advice alone, wants longer texts.
NOT_FOR_THIS = {"catalog.declared-v2", "perf.production-benchmark"}


class ProviderCheck(unittest.TestCase):
    def test_passes_every_check_of_a_server(self):
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            done = subprocess.run(
                [
                    Path(sys.executable).parent / "trustedrouter-provider-check",
                    *("--base-url", f"{URL}/v1", "--model", MODEL, "--tier", "6", "--perf-samples", "1"),
                    *("--json", report),
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=600,
            )
            self.assertEqual(done.returncode, 0, done.stdout[-4000:])
            checks = json.loads(report.read_text())["checks"]
        not_passed = {check["id"] for check in checks if check["status"] != "pass"}
        self.assertEqual(not_passed - NOT_FOR_THIS, set(), done.stdout[-4000:])
        self.assertEqual({check["tier"] for check in checks}, {1, 2, 3, 4, 5, 6})
