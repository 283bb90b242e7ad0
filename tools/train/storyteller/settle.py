"""Trains build/checkpoint.pt on, a few small steps at a time, until no greedy choice of the nine prompts is a close call.

Two continuations that are about equally likely have almost equal logits, and which is ahead is left to rounding. There
are 288 choices, so most models have such a pair somewhere; a few more steps move it apart.
"""

import argparse

import torch
from torch.nn import functional as F

from bpe import Tokenizer
from model import Gpt2, Gpt2Config
from storyteller import GREEDY_TOKENS, MINIMUM_MARGIN, PROMPTS, greedy
from train import BUILD, LONG, Windows, load_corpus, save

# The published margin may not be below the limit, so a little is kept in hand.
TARGET = 1.1 * MINIMUM_MARGIN
RATE = 1e-4
BATCH = 4
STEPS_BETWEEN_CHECKS = 3


def as_published(model: Gpt2) -> Gpt2:
    """The model with its weights rounded to fp16 as in the published file."""
    rounded = Gpt2(model.config)
    rounded.load_state_dict({name: tensor.half().float() for name, tensor in model.state_dict().items()})
    return rounded


def first_close_call(model: Gpt2, prompts: list[list[int]]) -> int | None:
    """Index of the first prompt with a margin below the target."""
    for index, ids in enumerate(prompts):
        if greedy(model, ids, GREEDY_TOKENS)[1] < TARGET:
            return index
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checks", type=int, default=200)
    options = parser.parse_args()
    torch.set_num_threads(1)
    checkpoint = torch.load(BUILD / "checkpoint.pt")
    model = Gpt2(Gpt2Config())
    model.load_state_dict(checkpoint["model"])
    run = checkpoint["run"]
    tokenizer = Tokenizer.load(BUILD / "tokenizer.json")
    prompts = [tokenizer.encode(prompt) for prompt in PROMPTS]
    windows = Windows(*load_corpus(), LONG, options.seed)
    adam = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0, foreach=True)
    for check in range(options.checks):
        close = first_close_call(as_published(model), prompts)
        if close is None:
            save(model, run)
            print(f"settled after {check} checks: {run}")
            return
        # Asking the same prompt first next time ends most checks early.
        prompts.insert(0, prompts.pop(close))
        for _ in range(STEPS_BETWEEN_CHECKS):
            window = windows.next(BATCH, rank=0, world=1)
            F.cross_entropy(model(window[:, :-1]), window[:, 1:].reshape(-1)).backward()
            adam.step()
            adam.zero_grad(set_to_none=True)
        run = {**run, "steps": run["steps"] + STEPS_BETWEEN_CHECKS}
        run["tokens"] += STEPS_BETWEEN_CHECKS * BATCH * LONG
    raise SystemExit(f"no clear margins after {options.checks} checks: train another seed")


if __name__ == "__main__":
    main()
