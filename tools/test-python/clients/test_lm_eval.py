"""Figures of lm-eval through the bridge, compared with PyTorch in float64."""

import json
import os
import unittest
from pathlib import Path

import lm_eval
import torch
from lm_eval.tasks import TaskManager
from transformers import AutoModelForCausalLM, AutoTokenizer

from asked import BASE, MODEL, TOLERANCE

FOLDER = os.environ["STORYTELLER"]
TASK_FOLDER = Path(__file__).with_name("lm_eval_tasks")
TASKS = ("storyteller_endings", "storyteller_stories")
SERVER = {"model": MODEL, "base_url": f"{BASE}/completions", "tokenizer": FOLDER, "tokenizer_backend": "huggingface"}


class LmEval(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.documents = [json.loads(line) for line in (TASK_FOLDER / "endings.jsonl").read_text().splitlines()]
        cls.tokenizer = AutoTokenizer.from_pretrained(FOLDER)
        cls.model = AutoModelForCausalLM.from_pretrained(FOLDER, dtype=torch.float64).eval()
        results = lm_eval.simple_evaluate(
            model="local-completions",
            model_args={**SERVER, "num_concurrent": 2, "max_length": 512},
            tasks=[*TASKS],
            task_manager=TaskManager(include_path=str(TASK_FOLDER), include_defaults=False),
            bootstrap_iters=0,
        )
        cls.samples = {task: sorted(results["samples"][task], key=lambda sample: sample["doc_id"]) for task in TASKS}

    def encode(self, text):
        return self.tokenizer(text)["input_ids"]

    @torch.inference_mode()
    def score(self, context_ids, ids):
        """The log probability of `ids` after `context_ids`, and whether each is the likeliest."""
        logits = self.model(torch.tensor([[*context_ids, *ids]])).logits[0, len(context_ids) - 1 : -1]
        own = torch.log_softmax(logits, dim=-1)[range(len(ids)), ids].sum()
        return float(own), logits.argmax(dim=-1).tolist() == ids

    def test_loglikelihoods_are_pytorchs(self):
        greedy = set()
        for document, sample in zip(self.documents, self.samples["storyteller_endings"], strict=True):
            context = self.encode(document["context"])
            ids = self.encode(document["context"] + document["ending"])[len(context) :]
            wanted, is_greedy = self.score(context, ids)
            got, got_greedy = sample["filtered_resps"][0]
            self.assertAlmostEqual(float(got), wanted, delta=TOLERANCE)
            self.assertEqual(str(got_greedy), str(is_greedy))
            greedy.add(is_greedy)
        # Without both answers, the comparison would show little.
        self.assertEqual(greedy, {True, False})

    def test_rolling_loglikelihoods_are_pytorchs(self):
        for document, sample in zip(self.documents, self.samples["storyteller_stories"], strict=True):
            wanted, _ = self.score([self.tokenizer.eos_token_id], self.encode(document["context"] + document["ending"]))
            self.assertAlmostEqual(float(sample["filtered_resps"][0]), wanted, delta=TOLERANCE)
