"""Prints the held-out perplexity and continuations of the published model.

`evaluate.py` alone does both for the nine prompts; any arguments are taken as prompts to continue instead.
"""

import os

os.environ.update(OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2")

import argparse
from pathlib import Path

import numpy as np

from storyteller import PROMPTS, greedy, load_model, load_tokenizer, perplexity, sample

BUILD = Path(__file__).parent / "build"
PUBLISHED = Path(__file__).parents[3] / "public" / "models" / "storyteller"


def held_out_stories() -> list[list[int]]:
    tokens, starts = np.load(BUILD / "held-out-tokens.npy"), np.load(BUILD / "held-out-starts.npy")
    return [part.tolist() for part in np.split(tokens, starts[1:])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prompts", nargs="*")
    parser.add_argument("--folder", type=Path, default=PUBLISHED)
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=80)
    options = parser.parse_args()
    model, tokenizer = load_model(options.folder), load_tokenizer(options.folder)
    if not options.prompts:
        per_token, per_byte = perplexity(model, tokenizer, held_out_stories())
        print(f"held-out perplexity {per_token:.3f} per token, {per_byte:.4f} bits per byte")
    for prompt in options.prompts or PROMPTS:
        ids = tokenizer.encode(prompt)
        best, margin = greedy(model, ids, 32)
        print(f"\n{prompt}\n  greedy  {tokenizer.decode(best)}  [margin {margin:.3f}]")
        for seed in range(options.samples):
            text = sample(model, ids, options.tokens, tokenizer.end_of_text, seed=seed)
            print(f"  sampled {tokenizer.decode(text)}")


if __name__ == "__main__":
    main()
