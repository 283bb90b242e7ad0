"""Values of huggingface/transformers for the generated decoders, in float64 on the CPU: see README.md.

The models are loaded from the very bytes that the tests serve. Greedy texts are continued without a K/V cache: each token
comes from a forward pass over all tokens before it.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import torch
from causal_lm import greedy, load_model, logits_of
from support import COMPACT, files_of, rounded, write

TEXT = "The quick brown fox jumps over the lazy dog while seven wizards quietly pack my box."
"""The generated tokenizers have one token per byte."""

PROMPT_LENGTHS = (2, 5, 9, 14, 21, 33, 47, 60)
LENGTHS_WITH_LOGITS = (5, 21, 60)
"""Sliding windows are 16 tokens long."""

NUM_GREEDY = 32
NUM_SAMPLES = 6
SAMPLE_LENGTH = 200
SEED = 1


def logprobs_of(model: torch.nn.Module, ids: list[int]) -> torch.Tensor:
    """Logprobs of each token but the first, given those before it."""
    logprobs = torch.log_softmax(logits_of(model, ids)[:-1], -1)
    return logprobs.gather(-1, torch.tensor(ids[1:])[:, None])[:, 0]


def sample(model: torch.nn.Module) -> list[list[int]]:
    """Texts at temperature 1, after one token each, [samples, tokens]."""
    random = torch.Generator().manual_seed(SEED)
    tokens = [torch.tensor([[byte] for byte in TEXT.encode()[:NUM_SAMPLES]])]
    cache = None
    while len(tokens) < SAMPLE_LENGTH:
        output = model(tokens[-1], past_key_values=cache, use_cache=True)
        cache = output.past_key_values
        probabilities = torch.softmax(output.logits[:, -1].double(), -1)
        tokens.append(torch.multinomial(probabilities, 1, generator=random))
    return torch.cat(tokens, 1).tolist()


def prompt_reference(model: torch.nn.Module, length: int) -> dict:
    ids = list(TEXT.encode()[:length])
    tokens, margin = greedy(model, ids, NUM_GREEDY)
    result = {"prompt": TEXT[:length], "promptTokenIds": ids, "greedyTokenIds": tokens, "minGreedyMargin": margin}
    if length in LENGTHS_WITH_LOGITS:
        result["logits"] = rounded(logits_of(model, ids)[-1].tolist())
        result["promptLogprobs"] = rounded(logprobs_of(model, ids).tolist())
    return result


@torch.no_grad()
def reference_of(folder: Path) -> dict:
    model = load_model(folder)
    prompts = [prompt_reference(model, length) for length in PROMPT_LENGTHS]
    samples = sample(model)
    perplexity = math.exp(-torch.cat([logprobs_of(model, ids) for ids in samples]).mean())
    margin = min(prompt["minGreedyMargin"] for prompt in prompts)
    print(f"{folder.name}: smallest margin {margin:.4f}, perplexity {perplexity:.1f}", flush=True)
    return {"files": files_of(folder), "prompts": prompts, "samples": samples, "samplesPerplexity": perplexity}


# Threads cost more than they gain on matrices as small as these.
torch.set_num_threads(1)
root = Path(sys.argv[1])
write("decoders", {str(folder.relative_to(root)): reference_of(folder) for folder in sorted(root.glob("*/*"))}, **COMPACT)
