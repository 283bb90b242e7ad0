"""Writes the reference of `npm run bench:peers`: 64 greedy tokens for eight prompts, computed in fp64 from the published model.

No text among them ends early, so that every contender of the benchmark generates the same number of tokens, and none has a
close call, so that none can be excused for other tokens.
"""

import os

os.environ.update(OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2")

import copy
import hashlib
from pathlib import Path

import torch

from bpe import Tokenizer
from evaluate import PUBLISHED
from export import as_json, write
from model import Gpt2
from storyteller import MINIMUM_MARGIN, PROMPTS, greedy, load_model, load_tokenizer

FIXTURE = Path(__file__).parents[2] / "e2e" / "fixtures" / "bench-peers-reference.json"
NUM_PROMPTS = 8
NUM_TOKENS = 64
# Two of the tutorials' nine prompts end their story before the 64th token.
CANDIDATES = (*PROMPTS, "One day a little")


def reference(single: Gpt2, double: Gpt2, tokenizer: Tokenizer, prompt: str) -> dict | None:
    """None where the text ends early; fp32 must choose the same tokens as fp64, by a clear margin."""
    ids = tokenizer.encode(prompt)
    tokens, margin = greedy(double, ids, NUM_TOKENS)
    if tokenizer.end_of_text in tokens:
        return None
    if margin <= MINIMUM_MARGIN or greedy(single, ids, NUM_TOKENS)[0] != tokens:
        raise ValueError(f"Expected a greedy margin above {MINIMUM_MARGIN}, got {margin:.4f} for {prompt!r}: choose another prompt")
    return {
        "prompt": prompt,
        "promptTokenIds": ids,
        "greedyTokenIds": tokens,
        "greedyText": tokenizer.decode(tokens),
        "minGreedyMargin": margin,
    }


def main() -> None:
    single, tokenizer = load_model(PUBLISHED), load_tokenizer(PUBLISHED)
    double = copy.deepcopy(single).double()
    entries = [entry for prompt in CANDIDATES if (entry := reference(single, double, tokenizer, prompt))]
    if len(entries) != NUM_PROMPTS:
        raise ValueError(f"Expected {NUM_PROMPTS} prompts whose text runs on, got {len(entries)}: change CANDIDATES")
    weights = (PUBLISHED / "model.safetensors").read_bytes()
    fixture = {
        "model": "storyteller",
        "weightsSha256": hashlib.sha256(weights).hexdigest(),
        "torch": torch.__version__,
        "prompts": entries,
    }
    write(FIXTURE, as_json(fixture))
    for entry in entries:
        print(f"{entry['minGreedyMargin']:.4f} {entry['prompt']} ->{entry['greedyText']}")


if __name__ == "__main__":
    main()
