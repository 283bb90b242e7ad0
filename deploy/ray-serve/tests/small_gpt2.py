"""GPT-2 with the interface of `transformers`, over the weights of the page: padding mask, positions and a K/V cache."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import torch
from torch.nn import functional

DTYPES = {"F16": "<f2", "F32": "<f4"}


def load_tensors(path: Path) -> dict[str, torch.Tensor]:
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            values = numpy.frombuffer(content[begin:end], DTYPES[entry["dtype"]]).astype(numpy.float32)
            tensors[name.removeprefix("transformer.")] = torch.from_numpy(values.reshape(entry["shape"]))
    return tensors


class SmallGpt2:
    device = "cpu"

    def __init__(self, folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        self.num_layers, self.num_heads = config["n_layer"], config["n_head"]
        self.epsilon, self.eos_id, self.max_length = (
            config[name] for name in ("layer_norm_epsilon", "eos_token_id", "n_positions")
        )
        self.weights = load_tensors(folder / "model.safetensors")

    def __call__(
        self, *, input_ids: torch.Tensor, attention_mask: torch.Tensor, position_ids: torch.Tensor, **rest: Any
    ) -> SimpleNamespace:
        """ids and positions [B, S], mask [B, past + S] -> logits [B, S, V]."""
        length, total = input_ids.shape[1], attention_mask.shape[1]
        causal = torch.ones(length, total).tril(total - length)
        # -1e9, not -inf: a row of padding alone has no key that it may see.
        bias = (1 - causal * attention_mask[:, None, None, :]) * -1e9
        past = rest["past_key_values"] or [None] * self.num_layers
        x = self.weights["wte.weight"][input_ids] + self.weights["wpe.weight"][position_ids]
        present = []
        for layer in range(self.num_layers):
            block = f"h.{layer}."
            mixed, kv = self._attend(self._norm(x, block + "ln_1."), block + "attn.", bias, past[layer])
            present.append(kv)
            x = x + mixed
            hidden = self._linear(self._norm(x, block + "ln_2."), block + "mlp.c_fc.")
            x = x + self._linear(functional.gelu(hidden, approximate="tanh"), block + "mlp.c_proj.")
        logits = self._norm(x, "ln_f.") @ self.weights["wte.weight"].T
        return SimpleNamespace(logits=logits, past_key_values=present)

    def _attend(self, x: torch.Tensor, name: str, bias: torch.Tensor, past: Any) -> tuple[torch.Tensor, Any]:
        rows, length, width = x.shape
        heads = self._linear(x, name + "c_attn.").view(rows, length, 3, self.num_heads, -1)
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        if past:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1]) + bias
        mixed = (scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(rows, length, width)
        return self._linear(mixed, name + "c_proj."), (k, v)

    def _linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return x @ self.weights[name + "weight"] + self.weights[name + "bias"]

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        weight, bias = self.weights[name + "weight"], self.weights[name + "bias"]
        return functional.layer_norm(x, weight.shape, weight, bias, self.epsilon)
