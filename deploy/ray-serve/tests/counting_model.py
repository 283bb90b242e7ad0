"""A causal model that counts: token i + 1 follows token i. It has the interface of `transformers`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

LETTERS = "abcdefghijklmnopqrstuvwxyz"
VOCAB_SIZE = len(LETTERS) + 1
EOS_ID = len(LETTERS)


class CountingModel:
    device = "cpu"
    config = SimpleNamespace(vocab_size=VOCAB_SIZE, max_position_embeddings=32)

    def __init__(self) -> None:
        self.batch_shapes: list[tuple[int, int]] = []
        self.position_ids: list[list[list[int]]] = []

    def __call__(self, *, input_ids: torch.Tensor, attention_mask: torch.Tensor, **rest: Any) -> SimpleNamespace:
        past = rest["past_key_values"] or 0
        assert rest["use_cache"] and attention_mask.shape[1] == past + input_ids.shape[1]
        self.batch_shapes.append(tuple(input_ids.shape))
        self.position_ids.append(rest["position_ids"].tolist())
        # Like the lookup of a position's embedding, this fails beyond the last position.
        torch.arange(self.config.max_position_embeddings)[rest["position_ids"]]
        logits = torch.zeros(*input_ids.shape, VOCAB_SIZE)
        logits.scatter_(2, (input_ids + 1).clamp(max=EOS_ID).unsqueeze(2), 4.0)
        return SimpleNamespace(logits=logits, past_key_values=past + input_ids.shape[1])


def encode(text: str) -> tuple[int, ...]:
    return tuple(LETTERS.index(letter) for letter in text)


def decode(ids: Any) -> str:
    return "".join(LETTERS[i] for i in ids)
