"""Values of GPT-2 for the generated checkpoints, in float64, from the very bytes that the tests serve: see README.md."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from models import load_model
from support import COMPACT, files_of, rounded, write

PROMPTS = ("Hi", "Once upon a time, there was a little robot")
NUM_TINY_TOKENS = 8
NUM_FULL_SIZE_TOKENS = 4
FULL_SIZE = "gpt2"
NUM_TOP = 20


def greedy(model, ids: list[int], num_tokens: int) -> tuple[list[int], float]:
    """The likeliest next tokens, and the smallest distance of the two largest logits."""
    ids, margin = list(ids), math.inf
    for _ in range(num_tokens):
        [logits] = model.logits(ids, -1)
        second, first = np.sort(logits)[-2:]
        margin = min(margin, first - second)
        ids.append(int(np.argmax(logits)))
    return ids[-num_tokens:], float(margin)


def describe_logits(logits: np.ndarray, is_full_size: bool) -> dict:
    if not is_full_size:
        return {"logits": rounded(logits)}
    top = np.argsort(-logits, kind="stable")[:NUM_TOP]
    return {"topIds": top.tolist(), "topLogits": rounded(logits[top]), "rms": float(np.sqrt((logits**2).mean()))}


def reference_of(folder: Path) -> dict:
    is_full_size = folder.name == FULL_SIZE
    model = load_model(folder)
    prompts = []
    for prompt in PROMPTS:
        # The generated tokenizers have one token per byte.
        ids = list(prompt.encode())
        tokens, margin = greedy(model, ids, NUM_FULL_SIZE_TOKENS if is_full_size else NUM_TINY_TOKENS)
        expected = describe_logits(model.logits(ids, -1)[0], is_full_size)
        prompts.append({"prompt": prompt, "promptTokenIds": ids, **expected, "greedyTokenIds": tokens, "minGreedyMargin": margin})
    print(folder.name, "smallest margins", *(f"{entry['minGreedyMargin']:.4f}" for entry in prompts), flush=True)
    return {"files": files_of(folder), "prompts": prompts}


root = Path(sys.argv[1])
write("checkpoints", {str(folder.relative_to(root)): reference_of(folder) for folder in sorted(root.glob("*/*"))}, **COMPACT)
