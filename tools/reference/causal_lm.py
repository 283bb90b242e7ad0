"""Causal language models of huggingface/transformers in float64 on the CPU, without a K/V cache."""

from __future__ import annotations

import math
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM


def load_model(folder: Path, attention: str = "eager") -> torch.nn.Module:
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64, attn_implementation=attention).eval()


def logits_of(model: torch.nn.Module, ids: list[int]) -> torch.Tensor:
    """[tokens, vocab]"""
    return model(torch.tensor([ids]), use_cache=False).logits[0].double()


def greedy(model: torch.nn.Module, prompt: list[int], num_tokens: int) -> tuple[list[int], float]:
    """The likeliest next tokens, end tokens included, and the smallest distance of the two largest logits."""
    ids, margin = list(prompt), math.inf
    for _ in range(num_tokens):
        logits = logits_of(model, ids)[-1]
        first, second = logits.topk(2).values.tolist()
        margin = min(margin, first - second)
        ids.append(int(logits.argmax()))
    return ids[len(prompt) :], margin
