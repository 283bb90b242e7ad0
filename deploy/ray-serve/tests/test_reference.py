"""The page's own models, beside what PyTorch computed for the page's tests."""

import fake_ray

fake_ray.install()

import asyncio
import json
import sys
import types
import unittest
from pathlib import Path

from completion_request import Sampling
from decoding import Job, decode_batch
from small_deployments import MODELS, HousePrice
from small_gpt2 import SmallGpt2

ROOT = Path(__file__).resolve().parents[3]
# Reads the file without ONNX Runtime, which is not everywhere.
sys.path.append(str(ROOT / "tools" / "train-house-price"))
import onnx_reader


def fixture(name):
    return json.loads((ROOT / "e2e" / "fixtures" / f"{name}-reference.json").read_text())


class Reference(unittest.TestCase):
    def test_prompts_of_all_lengths_in_one_batch_continue_as_each_does_alone(self):
        model = SmallGpt2(MODELS / "storyteller")
        reference = fixture("storyteller")
        entries = [*reference["prompts"], reference["longPrompt"]]
        jobs = [
            Job(tuple(entry["promptTokenIds"]), Sampling(max_tokens=len(entry["greedyTokenIds"])))
            for entry in entries
        ]
        outputs = [[] for _ in jobs]
        steps = decode_batch(
            model, jobs, decode=lambda _: "", eos_ids=frozenset([model.eos_id]), max_length=model.max_length
        )
        for step in steps:
            for own, chunk in zip(outputs, step, strict=True):
                own.extend(chunk.token_ids if chunk else ())
        for entry, own in zip(entries, outputs, strict=True):
            expected = entry["greedyTokenIds"]
            # It does not stop at the end token; the loop does.
            end = expected.index(model.eos_id) if model.eos_id in expected else len(expected)
            self.assertEqual(own, expected[:end], entry["prompt"][:40])
            self.assertGreater(len(own), 0)

    def test_houses_have_their_price_from_the_file_of_the_page(self):
        class Session:
            def __init__(self, path, providers):
                self.model = Path(path).read_bytes()

            def run(self, _, feed):
                return [onnx_reader.run(self.model, feed["features"])]

        sys.modules["onnxruntime"] = types.SimpleNamespace(InferenceSession=Session)
        houses = fixture("house-price")["houses"]

        async def ask():
            deployment = HousePrice()
            return await asyncio.gather(*(deployment(house["features"]) for house in houses))

        for price, house in zip(asyncio.run(ask()), houses, strict=True):
            self.assertLess(abs(price / house["price"] - 1), 1e-5)


if __name__ == "__main__":
    unittest.main()
