"""Figures of lm-eval through the bridge, compared with PyTorch in float64."""

import json
import os
import unittest
from pathlib import Path

import lm_eval
import torch
from lm_eval.tasks import TaskManager
from transformers import AutoModelForCausalLM, AutoTokenizer

from asked import MODEL, TOLERANCE, URL

FOLDER = os.environ["STORYTELLER"]
HERE = Path(__file__).parent
TASKS = ("storyteller_endings", "storyteller_stories")


def evaluate():
    """The tasks run once for all tests: samples by task, in the order of the documents."""
    os.chdir(HERE)
    results = lm_eval.simple_evaluate(
        model="local-completions",
        model_args={
            "model": MODEL,
            "base_url": f"{URL}/v1/completions",
            "tokenizer": FOLDER,
            "tokenizer_backend": "huggingface",
            "num_concurrent": 2,
            "max_length": 512,
        },
        tasks=list(TASKS),
        task_manager=TaskManager(include_path=str(HERE / "lm_eval_tasks"), include_defaults=False),
        bootstrap_iters=0,
    )
    return {task: sorted(results["samples"][task], key=lambda sample: sample["doc_id"]) for task in TASKS}


class Reference:
    def __init__(self):
        self.tokenizer = AutoTokenizer.from_pretrained(FOLDER)
        self.model = AutoModelForCausalLM.from_pretrained(FOLDER, dtype=torch.float64).eval()

    @torch.inference_mode()
    def score(self, context_ids, ids):
        """The log probability of `ids` after `context_ids`, and whether each is the likeliest."""
        logits = self.model(torch.tensor([[*context_ids, *ids]])).logits[0, len(context_ids) - 1 : -1]
        own = torch.log_softmax(logits, dim=-1)[range(len(ids)), ids].sum()
        return float(own), logits.argmax(dim=-1).tolist() == ids


class LmEval(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lines = (HERE / "lm_eval_tasks" / "endings.jsonl").read_text().splitlines()
        cls.documents = [json.loads(line) for line in lines]
        cls.reference = Reference()
        cls.samples = evaluate()

    def test_loglikelihoods_are_pytorchs(self):
        encode = lambda text: self.reference.tokenizer(text)["input_ids"]
        samples = self.samples["storyteller_endings"]
        greedy = []
        for document, sample in zip(self.documents, samples, strict=True):
            context = encode(document["context"])
            ids = encode(document["context"] + document["ending"])[len(context) :]
            wanted, is_greedy = self.reference.score(context, ids)
            got, got_greedy = sample["filtered_resps"][0]
            self.assertAlmostEqual(float(got), wanted, delta=TOLERANCE)
            self.assertEqual(str(got_greedy), str(is_greedy))
            greedy.append(is_greedy)
        # Without both answers, the comparison would show little.
        self.assertEqual(set(greedy), {True, False})

    def test_rolling_loglikelihoods_are_pytorchs(self):
        tokenizer = self.reference.tokenizer
        for document, sample in zip(self.documents, self.samples["storyteller_stories"], strict=True):
            ids = tokenizer(document["context"] + document["ending"])["input_ids"]
            wanted, _ = self.reference.score([tokenizer.eos_token_id], ids)
            self.assertAlmostEqual(float(sample["filtered_resps"][0]), wanted, delta=TOLERANCE)
