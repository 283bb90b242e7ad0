"""The page's own model in `transformers`, beside what the page's tests expect."""

import json
import unittest
from pathlib import Path

from transformers import AutoModelForCausalLM

from completion_request import Sampling
from decoding import Job, decode_batch
from small_deployments import MODELS

ROOT = Path(__file__).resolve().parents[3]


def fixture(name):
    return json.loads((ROOT / "tools" / "reference" / "fixtures" / f"{name}-reference.json").read_text())


class Reference(unittest.TestCase):
    def test_prompts_of_all_lengths_in_one_batch_continue_as_each_does_alone(self):
        model = AutoModelForCausalLM.from_pretrained(MODELS / "storyteller").eval().float()
        eos_id = model.config.eos_token_id
        reference = fixture("storyteller")
        entries = [*reference["prompts"], reference["longPrompt"]]
        jobs = [
            Job(tuple(entry["promptTokenIds"]), Sampling(max_tokens=len(entry["greedyTokenIds"])))
            for entry in entries
        ]
        outputs = [[] for _ in jobs]
        steps = decode_batch(
            model,
            jobs,
            decode=lambda _: "",
            eos_ids=frozenset([eos_id]),
            max_length=model.config.max_position_embeddings,
        )
        for step in steps:
            for own, chunk in zip(outputs, step, strict=True):
                own.extend(chunk.token_ids if chunk else ())
        for entry, own in zip(entries, outputs, strict=True):
            expected = entry["greedyTokenIds"]
            # It does not stop at the end token; the loop does.
            end = expected.index(eos_id) if eos_id in expected else len(expected)
            self.assertEqual(own, expected[:end], entry["prompt"][:40])
            self.assertGreater(len(own), 0)


if __name__ == "__main__":
    unittest.main()
