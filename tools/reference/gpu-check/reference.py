"""Values of huggingface/transformers for the models that a GPU is checked with, in float64 on the CPU: see README.md.

Prompts are drawn until each token of their greedy texts leads the next by
`MARGIN`: then fp16, whose errors are smaller than half of that, takes the same tokens. It prints the errors of PyTorch's
own fp16, from which the worker's tolerance comes.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import torch
from support import COMPACT, ROOT, describe, write_to
from transformers import AutoConfig, AutoModelForCausalLM

TARGET = ROOT / "src" / "worker" / "runtime" / "gpu-check" / "reference.json"

ROWS = ((1, 14), (33, 5), (64, 14), (130, 14), (33, 8), (64, 14), (1, 14))
"""Tokens of the prompt and of the text. Rows that end early make the last rows move."""

JOINER = (130, 8)
SHARED_ROW = 3
NUM_SHARED = 100
"""The late joiner has the same beginning as another row's prompt, whose keys and values are copied."""

NUM_TOP = 4
MARGIN = 0.15
PRESENCE_PENALTY = 2
"""Penalty of a token that the text has. Without it, the texts of random models repeat one token."""

NUM_DIGITS = 4


def greedy(model: torch.nn.Module, prompt: list[int], num_tokens: int) -> list[list[float]] | None:
    """Each token with the largest logprobs in its place; None if one leads by less than the margin."""
    ids = list(prompt)
    steps = []
    for _ in range(num_tokens):
        logits = model(torch.tensor([ids]), use_cache=False).logits[0, -1].double()
        top = torch.log_softmax(logits, -1).topk(NUM_TOP).values.tolist()
        logits[list({step[0] for step in steps})] -= PRESENCE_PENALTY
        first, second = logits.topk(2).values.tolist()
        if first - second < MARGIN:
            return None
        ids.append(int(logits.argmax()))
        steps.append([ids[-1], *(round(value, NUM_DIGITS) for value in top)])
    return steps


def row_of(model: torch.nn.Module, prefix: list[int], length: int, num_tokens: int, draw: random.Random) -> dict:
    while True:
        fresh = [draw.randrange(model.config.vocab_size) for _ in range(length - len(prefix))]
        prompt = prefix + fresh
        steps = greedy(model, prompt, num_tokens)
        if steps:
            return {"promptTokenIds": prompt, "steps": steps}


def half_error(model: torch.nn.Module, rows: list[dict]) -> float:
    """The largest error of a logprob in fp16."""
    half = model.half()
    largest = 0.0
    for row in rows:
        ids = row["promptTokenIds"] + [step[0] for step in row["steps"]]
        logits = half(torch.tensor([ids]), use_cache=False).logits[0].double()
        top = torch.log_softmax(logits, -1).topk(NUM_TOP).values
        for i, step in enumerate(row["steps"]):
            actual = top[len(row["promptTokenIds"]) - 1 + i].tolist()
            largest = max(largest, *(abs(a - b) for a, b in zip(actual, step[1:])))
    return largest


def case_of(folder: Path) -> dict:
    case = json.loads((folder / "case.json").read_text())
    config = AutoConfig.from_pretrained(folder, attn_implementation="eager")
    model = AutoModelForCausalLM.from_pretrained(folder, config=config, dtype=torch.float64).eval()
    draw = random.Random(case["seed"])
    rows = [row_of(model, [], length, num_tokens, draw) for length, num_tokens in ROWS]
    prefix = rows[SHARED_ROW]["promptTokenIds"][:NUM_SHARED]
    rows.append(row_of(model, prefix, *JOINER, draw))
    numbers = {step[0] for row in rows for step in row["steps"]}
    print(f"{folder.name}: {len(numbers)} different tokens, error of fp16 {half_error(model, rows):.4f}", flush=True)
    return {**case, "sha256": describe(folder / "model.safetensors")["sha256"], "rows": rows}


# Threads cost more than they gain on matrices as small as these.
torch.set_num_threads(1)
with torch.no_grad():
    cases = [case_of(folder) for folder in sorted(Path(sys.argv[1]).iterdir())]
write_to(TARGET, {"cases": cases}, **COMPACT)
