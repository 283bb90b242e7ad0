"""The finished model as callers see it: loaded from its published files, it scores text and continues prompts."""

import math
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

import safetensors
from bpe import Tokenizer
from model import Gpt2, Gpt2Config

# The model's own defaults: low enough that a small model keeps to its subject, high enough that texts differ.
TEMPERATURE = 0.5
TOP_K = 20

PROMPTS = (
    "Once upon a time,",
    "Hi my name is Lewis and I like to",
    "My name is Mary, and my favorite",
    "My name is Clara and I am",
    "My name is Julien and I like to",
    "Today I accidentally",
    "My greatest wish is to",
    "In a galaxy far far away",
    "My best talent is",
)
GREEDY_TOKENS = 32
# Float noise between backends is about 1e-5 relative, logits are about 10: no backend can flip a gap this wide.
MINIMUM_MARGIN = 0.02


def load_model(folder: Path) -> Gpt2:
    """The published fp16 weights, computed with in fp32."""
    model = Gpt2(Gpt2Config())
    tensors = safetensors.load(folder / "model.safetensors")
    model.load_state_dict({name: torch.from_numpy(tensor.astype(np.float32)) for name, tensor in tensors.items()})
    return model.eval()


def load_tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.load(folder / "tokenizer.json")


@torch.no_grad()
def next_token_logits(model: Gpt2, ids: list[int]) -> torch.Tensor:
    """Logits [len(ids), vocab], each row following the ids up to its own."""
    return model(torch.tensor([ids]))


def last_logits(model: Gpt2, ids: list[int]) -> torch.Tensor:
    """Logits [vocab] that follow the ids."""
    return next_token_logits(model, ids)[-1]


def greedy(model: Gpt2, ids: list[int], count: int) -> tuple[list[int], float]:
    """The `count` likeliest next ids, one by one, and the smallest gap between the best and second-best logit."""
    text, smallest = list(ids), math.inf
    for _ in range(count):
        best = last_logits(model, text).topk(2)
        smallest = min(smallest, (best.values[0] - best.values[1]).item())
        text.append(best.indices[0].item())
    return text[len(ids) :], smallest


def sample(model: Gpt2, ids: list[int], count: int, end: int, seed: int) -> list[int]:
    """Up to `count` ids sampled at the model's defaults; stops before the end-of-text id."""
    generator = torch.Generator().manual_seed(seed)
    text = list(ids)
    while len(text) < len(ids) + count:
        best = last_logits(model, text).topk(TOP_K)
        choice = torch.multinomial(F.softmax(best.values / TEMPERATURE, dim=-1), 1, generator=generator)
        token = best.indices[choice].item()
        if token == end:
            break
        text.append(token)
    return text[len(ids) :]


@torch.no_grad()
def perplexity(model: Gpt2, tokenizer: Tokenizer, stories: list[list[int]]) -> tuple[float, float]:
    """Perplexity per token and bits per byte over whole stories from position 0, end-of-text included.

    A story's first token has nothing before it to be predicted from, so neither it nor its bytes count.
    """
    nats, tokens, size = 0.0, 0, 0
    for first in range(0, len(stories), 32):
        batch = sorted(stories[first : first + 32], key=len)
        width = len(batch[-1])
        padded = torch.tensor([story + [0] * (width - len(story)) for story in batch])
        targets = padded[:, 1:].clone()
        for row, story in enumerate(batch):
            targets[row, len(story) - 1 :] = -100
        logits = model(padded[:, :-1])
        nats += F.cross_entropy(logits, targets.reshape(-1), ignore_index=-100, reduction="sum").item()
        tokens += sum(len(story) - 1 for story in batch)
        size += sum(len(tokenizer.decode_bytes(story[1:])) for story in batch)
    return math.exp(nats / tokens), nats / math.log(2) / size
