"""TrustedRouter's check of OpenAI-compatible servers, all its tiers, as its command line runs it."""

import unittest

from asked import BASE, MODEL, report_of

# The catalog is a document of a marketplace, not of a server. The benchmark, which gives advice alone, wants longer texts.
NOT_FOR_THIS = {"catalog.declared-v2", "perf.production-benchmark"}


class ProviderCheck(unittest.TestCase):
    def test_passes_every_check_of_a_server(self):
        options = ("--base-url", BASE, "--model", MODEL, "--tier", "6", "--perf-samples", "1", "--json", "report.json")
        report, output = report_of("trustedrouter-provider-check", *options)
        not_passed = {check["id"] for check in report["checks"] if check["status"] != "pass"}
        self.assertEqual(not_passed - NOT_FOR_THIS, set(), output[-4000:])
        self.assertEqual({check["tier"] for check in report["checks"]}, {1, 2, 3, 4, 5, 6})
