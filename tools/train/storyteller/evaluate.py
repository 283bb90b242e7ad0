"""Prints the held-out perplexity of a model and continuations of its prompts, or of other ones that are named."""

import argparse
from pathlib import Path

from model import GREEDY_TOKENS, PROMPTS, PUBLISHED, greedy, held_out_stories, load_model, load_tokenizer, perplexity, sample


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prompts", nargs="*")
    parser.add_argument("--folder", type=Path, default=PUBLISHED)
    options = parser.parse_args()
    model, tokenizer = load_model(options.folder), load_tokenizer(options.folder)
    if not options.prompts:
        per_token, per_byte = perplexity(model, tokenizer, held_out_stories())
        print(f"held-out perplexity {per_token:.3f} per token, {per_byte:.4f} bits per byte")
    for prompt in options.prompts or PROMPTS:
        ids = tokenizer.encode(prompt).ids
        best, margin = greedy(model, ids, GREEDY_TOKENS)
        print(f"\n{prompt}\n  greedy  {tokenizer.decode(best)}  [margin {margin:.3f}]")
        for seed in range(2):
            print(f"  sampled {tokenizer.decode(sample(model, ids, 80, seed))}")


if __name__ == "__main__":
    main()
