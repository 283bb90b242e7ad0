"""The recorded tool calls of the package canitoolcall, of the families that Tabserve serves, by the package's own checks."""

import json
import subprocess
import unittest
from collections import Counter, defaultdict

from canitoolcall.checks import case_status, run_checks
from canitoolcall.chunking import ChunkStrategy, split_text
from canitoolcall.fixtures import load_families, load_fixtures
from canitoolcall.results import Observation, ParsedToolCall, ParseResult, Status

from environments import HERE, ROOT
from servers import NODE

TEMPLATES = ROOT / "tools" / "reference" / "chat-templates" / "models"
# Which of the templates in the models' style a recorded model has.
TEMPLATE_OF = {
    "Qwen/Qwen3-0.6B": "qwen-3",
    "Qwen/Qwen3-4B-Instruct-2507": "qwen-2.5",
    "Qwen/Qwen3-4B-Thinking-2507": "qwen-3",
    "Qwen/Qwen3.5-9B": "qwen-3.5",
    "Qwen/Qwen3.8-27B": "qwen-3.5",
    "Qwen/Qwen3-Coder-30B-A3B-Instruct": "qwen-3-coder",
    "Qwen/Qwen3-Coder-Next": "qwen-3-coder",
    "meta-llama/Llama-3.3-70B-Instruct": "llama-3.3",
    "mistralai/Mistral-7B-Instruct-v0.3": "mistral-v3",
    "mistralai/Mistral-Small-3.2-24B-Instruct-2506": "mistral-small",
    "mistralai/Devstral-Small-2507": "mistral-small",
    "mistralai/Magistral-Small-2506": "magistral-1",
    "mistralai/Magistral-Small-2509": "magistral",
    "mistralai/Ministral-3-14B-Instruct-2512": "ministral-3",
    "mistralai/Ministral-3-14B-Reasoning-2512": "magistral",
}
# Per character and in groups: each cut is possible, also inside a mark.
STRATEGIES = [ChunkStrategy.parse(name) for name in ("one", "token", *(f"rand:{seed}:8" for seed in range(1, 6)))]
# Passes and soft passes, which differ in white space alone. What isn't among them is explained in docs/ray-and-python.md.
FLOORS = {"llama": (22, 1), "mistral": (46, 0), "qwen3-hermes": (45, 0), "qwen3-xml": (53, 0)}
VLLM = "vLLM 0.30: 268 of 469 in nine families"


def parsed(answer):
    calls = tuple(ParsedToolCall(call["name"], call["arguments"]) for call in answer["toolCalls"])
    return ParseResult(answer["content"] or None, answer["reasoning"] or None, calls)


def case_of(fixture):
    template = (TEMPLATES / f"{TEMPLATE_OF[fixture.models[0]]}.jinja").read_text()
    return {
        "template": template,
        "prompt": fixture.generation_prompt or "",
        "tools": [tool["function"] for tool in fixture.tools],
        "isCut": "truncated" in fixture.tags,
        "streams": [[fixture.raw_output], *(split_text(fixture.raw_output, strategy) for strategy in STRATEGIES)],
    }


class CanIToolCall(unittest.TestCase):
    def test_reads_the_calls_that_are_recorded(self):
        families = load_families()
        fixtures = [fixture for fixture in load_fixtures() if fixture.models[0] in TEMPLATE_OF]
        lines = "".join(f"{json.dumps(case_of(fixture))}\n" for fixture in fixtures)
        parser = [NODE, HERE / "clients" / "parse-answers.ts"]
        output = subprocess.run(parser, input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
        counts = defaultdict(Counter)
        for fixture, line in zip(fixtures, output, strict=True):
            whole, *streams = map(parsed, json.loads(line))
            named = {strategy.id: stream for strategy, stream in zip(STRATEGIES, streams, strict=True)}
            self.assertEqual({result == whole for result in streams}, {True}, fixture.id)
            rows = run_checks(fixture, families[fixture.family], Observation(nonstream=whole, streams=named))
            status = case_status(rows)
            counts[fixture.family][status] += 1
            if status is not Status.PASS:
                details = {row.detail for row in rows if row.status is not Status.PASS and row.detail}
                print(f"{status.value} {fixture.id}: {'; '.join(sorted(details)[:2])}")
        for family, statuses in sorted(counts.items()):
            print(f"{family}: {statuses[Status.PASS]} of {statuses.total()}, {statuses[Status.SOFT_PASS]} but for white space")
        passed = sum(statuses[Status.PASS] for statuses in counts.values())
        print(f"together: {passed} of {len(fixtures)}. {VLLM}", flush=True)
        for family, (passes, soft) in FLOORS.items():
            statuses = counts[family]
            self.assertGreaterEqual(statuses[Status.PASS], passes, family)
            self.assertGreaterEqual(statuses[Status.PASS] + statuses[Status.SOFT_PASS], passes + soft, family)
