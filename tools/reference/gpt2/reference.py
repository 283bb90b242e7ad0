"""Values of huggingface/transformers for the generated GPT-2 checkpoints, in float64, from the very bytes that the tests serve: see README.md."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from causal_lm import greedy, load_model, logits_of
from support import COMPACT, files_of, rounded, write

PROMPTS = ("Hi", "Once upon a time, there was a little robot")
NUM_TINY_TOKENS = 8
NUM_FULL_SIZE_TOKENS = 4
FULL_SIZE = "gpt2"
NUM_TOP = 20


def describe_logits(logits: torch.Tensor, is_full_size: bool) -> dict:
    if not is_full_size:
        return {"logits": rounded(logits.tolist())}
    top = logits.topk(NUM_TOP)
    return {"topIds": top.indices.tolist(), "topLogits": rounded(top.values.tolist()), "rms": logits.square().mean().sqrt().item()}


@torch.no_grad()
def reference_of(folder: Path) -> dict:
    is_full_size = folder.name == FULL_SIZE
    # Eager attention computes in fp32 where `reorder_and_upcast_attn` is set.
    model = load_model(folder, attention="sdpa")
    prompts = []
    for prompt in PROMPTS:
        # The generated tokenizers have one token per byte.
        ids = list(prompt.encode())
        tokens, margin = greedy(model, ids, NUM_FULL_SIZE_TOKENS if is_full_size else NUM_TINY_TOKENS)
        expected = describe_logits(logits_of(model, ids)[-1], is_full_size)
        prompts.append({"prompt": prompt, "promptTokenIds": ids, **expected, "greedyTokenIds": tokens, "minGreedyMargin": margin})
    print(folder.name, "smallest margins", *(f"{entry['minGreedyMargin']:.4f}" for entry in prompts), flush=True)
    return {"files": files_of(folder), "prompts": prompts}


root = Path(sys.argv[1])
write("checkpoints", {str(folder.relative_to(root)): reference_of(folder) for folder in sorted(root.glob("*/*"))}, **COMPACT)
