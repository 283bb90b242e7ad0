"""Writes the reference of `npm run bench -- peers`: 64 greedy tokens for each prompt, checked in fp64 on the published model.

There are eight short prompts, and eight of 400 tokens, which are the stories of the short ones in a row. No text ends early, so
that every contender of the benchmark generates the same number of tokens. No step has a close call, so that a contender's
rounding can't excuse other tokens.
"""

import os

os.environ.update(OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2")

import copy
import hashlib
import math
from pathlib import Path

import torch

from bpe import Tokenizer
from evaluate import PUBLISHED
from export import as_json, write
from model import Gpt2
from storyteller import MINIMUM_MARGIN, PROMPTS, greedy, load_model, load_tokenizer, next_token_logits

FIXTURE = Path(__file__).parents[2] / "reference" / "fixtures" / "bench-peers-reference.json"
NUM_PROMPTS = 8
NUM_TOKENS = 64
# Two of the tutorials' nine prompts end their story before the 64th token.
CANDIDATES = (*PROMPTS, "One day a little")
NUM_LONG_PROMPT_TOKENS = 400
# Each order begins with another story. Many others end their last story early or have a close call.
STORY_ORDERS = (
    (0, 1, 4, 6, 2, 5, 3, 7),
    (1, 4, 7, 6, 2, 0, 5, 3),
    (2, 6, 4, 5, 1, 0, 7, 3),
    (3, 1, 2, 0, 4, 5, 7, 6),
    (4, 0, 1, 7, 2, 5, 6, 3),
    (5, 2, 1, 6, 7, 4, 3, 0),
    (6, 7, 1, 4, 5, 0, 3, 2),
    (7, 6, 0, 4, 3, 5, 1, 2),
)


def reference(single: Gpt2, double: Gpt2, tokenizer: Tokenizer, prompt: str) -> dict | None:
    """None where the text ends early. fp64 must choose the tokens that fp32 chooses, by a clear margin."""
    ids = tokenizer.encode(prompt)
    tokens, _ = greedy(single, ids, NUM_TOKENS)
    if tokenizer.end_of_text in tokens:
        return None
    margin = greedy_margin(double, ids, tokens)
    if margin <= MINIMUM_MARGIN:
        raise ValueError(f"Expected a greedy margin above {MINIMUM_MARGIN}, got {margin:.4f} for {prompt!r}: choose another prompt")
    return {
        "prompt": prompt,
        "promptTokenIds": ids,
        "greedyTokenIds": tokens,
        "greedyText": tokenizer.decode(tokens),
        "minGreedyMargin": margin,
    }


def greedy_margin(model: Gpt2, ids: list[int], tokens: list[int]) -> float:
    """The smallest gap from a token's logit to the best other logit of its step; negative if greedy decoding differs."""
    logits = next_token_logits(model, [*ids, *tokens[:-1]])[len(ids) - 1 :]
    chosen = torch.tensor(tokens)[:, None]
    best_other = logits.scatter(1, chosen, -math.inf).amax(dim=1)
    return (logits.gather(1, chosen)[:, 0] - best_other).min().item()


def long_prompt(tokenizer: Tokenizer, stories: list[str], order: tuple[int, ...]) -> str:
    """Stories joined by spaces and cut, such that every tokenizer of this vocabulary makes the same tokens of the text."""
    ids = tokenizer.encode(" ".join(stories[index] for index in order))[:NUM_LONG_PROMPT_TOKENS]
    prompt = tokenizer.decode(ids)
    if len(ids) != NUM_LONG_PROMPT_TOKENS or tokenizer.encode(prompt) != ids:
        raise ValueError(f"Expected {NUM_LONG_PROMPT_TOKENS} tokens that survive decoding: change the order {order}")
    return prompt


def references(single: Gpt2, tokenizer: Tokenizer, prompts: tuple[str, ...]) -> list[dict]:
    double = copy.deepcopy(single).double()
    entries = [entry for prompt in prompts if (entry := reference(single, double, tokenizer, prompt))]
    if len(entries) != NUM_PROMPTS:
        raise ValueError(f"Expected {NUM_PROMPTS} prompts whose text runs on, got {len(entries)}: change the candidates")
    return entries


def main() -> None:
    single, tokenizer = load_model(PUBLISHED), load_tokenizer(PUBLISHED)
    entries = references(single, tokenizer, CANDIDATES)
    stories = [entry["prompt"] + entry["greedyText"] for entry in entries]
    long_prompts = tuple(long_prompt(tokenizer, stories, order) for order in STORY_ORDERS)
    weights = (PUBLISHED / "model.safetensors").read_bytes()
    fixture = {
        "model": "storyteller",
        "weightsSha256": hashlib.sha256(weights).hexdigest(),
        "torch": torch.__version__,
        "prompts": entries,
        "longPrompts": references(single, tokenizer, long_prompts),
    }
    write(FIXTURE, as_json(fixture))
    for entry in [*fixture["prompts"], *fixture["longPrompts"]]:
        print(f"{entry['minGreedyMargin']:.4f} …{entry['prompt'][-40:]} ->{entry['greedyText']}")


if __name__ == "__main__":
    main()
