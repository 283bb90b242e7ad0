"""GPT-2, Llama, Qwen 3 and Gemma 3 in float64: implementations of their own, in NumPy alone.

They follow the definitions in huggingface/transformers (modeling_gpt2.py, modeling_llama.py, modeling_qwen3.py,
modeling_gemma3.py, activations.py), of which they share no code.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

Weights = dict[str, np.ndarray]


def read_floats(dtype: str, data: bytes) -> np.ndarray | None:
    if dtype == "BF16":
        return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
    formats = {"F32": "<f4", "F16": "<f2"}
    return np.frombuffer(data, formats[dtype]) if dtype in formats else None


def read_weights(folder: Path) -> Weights:
    """Tensors by their names, from all safetensors files of the folder, without GPT-2's prefix."""
    tensors = {}
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("rb") as file:
            header_length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(header_length))
            header.pop("__metadata__", None)
            for name, entry in header.items():
                begin, end = entry["data_offsets"]
                file.seek(8 + header_length + begin)
                values = read_floats(entry["dtype"], file.read(end - begin))
                if values is not None:
                    tensors[name.removeprefix("transformer.")] = values.astype(np.float64).reshape(entry["shape"])
    return tensors


def load_model(folder: Path) -> Gpt2 | Decoder:
    config, weights = json.loads((folder / "config.json").read_text()), read_weights(folder)
    return Gpt2(config, weights) if config["model_type"] == "gpt2" else Decoder(config, weights)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS = {
    "gelu_new": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh,
    "gelu": lambda x: 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "quick_gelu": lambda x: x * sigmoid(1.702 * x),
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x * sigmoid(x),
    "tanh": np.tanh,
    "sigmoid": sigmoid,
}


def attend(query: np.ndarray, key: np.ndarray, value: np.ndarray, scale: float, window: float = math.inf) -> np.ndarray:
    """Causal attention of heads, [heads, tokens, head size], as [tokens, all heads]. A window has the latest tokens alone."""
    length = query.shape[1]
    distance = np.arange(length)[:, None] - np.arange(length)
    scores = np.where((distance >= 0) & (distance < window), query @ key.transpose(0, 2, 1) / scale, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    return (weights @ value).transpose(1, 0, 2).reshape(length, -1)


class Gpt2:
    def __init__(self, config: dict, weights: Weights) -> None:
        self.config = config
        self.weights = weights
        self.head = weights["wte.weight" if config.get("tie_word_embeddings", True) else "lm_head.weight"]

    def logits(self, ids: list[int], first: int) -> np.ndarray:
        """Logits after each token from `first` on, [tokens, vocab]."""
        hidden = self.weights["wte.weight"][ids] + self.weights["wpe.weight"][: len(ids)]
        for layer in range(self.config["n_layer"]):
            h = f"h.{layer}"
            hidden = hidden + self.attention(self.norm(hidden, f"{h}.ln_1"), layer)
            hidden = hidden + self.mlp(self.norm(hidden, f"{h}.ln_2"), f"{h}.mlp")
        return self.norm(hidden, "ln_f")[first:] @ self.head.T

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        centered = x - x.mean(-1, keepdims=True)
        variance = (centered**2).mean(-1, keepdims=True)
        scaled = centered / np.sqrt(variance + self.config["layer_norm_epsilon"])
        return scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def linear(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def attention(self, x: np.ndarray, layer: int) -> np.ndarray:
        num_heads = self.config["n_head"]
        length, size = x.shape
        packed = self.linear(x, f"h.{layer}.attn.c_attn").reshape(length, 3, num_heads, size // num_heads)
        scale = math.sqrt(size // num_heads) if self.config.get("scale_attn_weights", True) else 1
        if self.config.get("scale_attn_by_inverse_layer_idx", False):
            scale *= layer + 1
        return self.linear(attend(*packed.transpose(1, 2, 0, 3), scale), f"h.{layer}.attn.c_proj")

    def mlp(self, x: np.ndarray, name: str) -> np.ndarray:
        activation = ACTIVATIONS[self.config["activation_function"]]
        return self.linear(activation(self.linear(x, f"{name}.c_fc")), f"{name}.c_proj")


class Decoder:
    def __init__(self, config: dict, weights: Weights) -> None:
        if config.get("rope_scaling"):
            raise ValueError("Expected a model without rope_scaling: its frequencies are not computed here.")
        self.config = config
        self.weights = weights
        self.is_gemma = config["model_type"] == "gemma3_text"
        self.head_size = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
        self.activation = ACTIVATIONS["gelu_pytorch_tanh" if self.is_gemma else "silu"]

    def logits(self, ids: list[int], first: int) -> np.ndarray:
        """Logits after each token from `first` on, [tokens, vocab]."""
        embedding = self.weights["model.embed_tokens.weight"]
        hidden = embedding[ids] * (math.sqrt(self.config["hidden_size"]) if self.is_gemma else 1)
        for layer in range(self.config["num_hidden_layers"]):
            hidden = self.add_layer(hidden, layer)
        head = self.weights.get("lm_head.weight", embedding)
        return self.norm(hidden[first:], "model.norm") @ head.T

    def add_layer(self, hidden: np.ndarray, layer: int) -> np.ndarray:
        name = f"model.layers.{layer}"
        attended = self.attention(self.norm(hidden, f"{name}.input_layernorm"), layer, f"{name}.self_attn")
        if not self.is_gemma:
            hidden = hidden + attended
            return hidden + self.mlp(self.norm(hidden, f"{name}.post_attention_layernorm"), f"{name}.mlp")
        hidden = hidden + self.norm(attended, f"{name}.post_attention_layernorm")
        added = self.mlp(self.norm(hidden, f"{name}.pre_feedforward_layernorm"), f"{name}.mlp")
        return hidden + self.norm(added, f"{name}.post_feedforward_layernorm")

    def attention(self, x: np.ndarray, layer: int, name: str) -> np.ndarray:
        config, size = self.config, self.head_size
        num_heads, num_kv_heads = config["num_attention_heads"], config["num_key_value_heads"]

        def heads(part: str, count: int) -> np.ndarray:
            """[heads, tokens, head size]"""
            values = (x @ self.weights[f"{name}.{part}_proj.weight"].T).reshape(len(x), count, size)
            has_norm = f"{name}.{part}_norm.weight" in self.weights
            return (self.norm(values, f"{name}.{part}_norm") if has_norm else values).transpose(1, 0, 2)

        is_full = not self.is_gemma or (layer + 1) % config["sliding_window_pattern"] == 0
        window, theta = (math.inf, "rope_theta") if is_full else (config["sliding_window"], "rope_local_base_freq")
        query = rotated(heads("q", num_heads), config[theta])
        # Each K/V head serves as many neighboring heads.
        key = np.repeat(rotated(heads("k", num_kv_heads), config[theta]), num_heads // num_kv_heads, 0)
        value = np.repeat(heads("v", num_kv_heads), num_heads // num_kv_heads, 0)
        scale = math.sqrt(config.get("query_pre_attn_scalar", size))
        return attend(query, key, value, scale, window) @ self.weights[f"{name}.o_proj.weight"].T

    def mlp(self, x: np.ndarray, name: str) -> np.ndarray:
        gate, up, down = (self.weights[f"{name}.{part}_proj.weight"].T for part in ("gate", "up", "down"))
        return (self.activation(x @ gate) * (x @ up)) @ down

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        scaled = x / np.sqrt((x**2).mean(-1, keepdims=True) + self.config["rms_norm_eps"])
        return scaled * (self.weights[f"{name}.weight"] + (1 if self.is_gemma else 0))


def rotated(heads: np.ndarray, theta: float) -> np.ndarray:
    """Turns the first half of each head with its second by the position, [heads, tokens, head size]."""
    _, length, size = heads.shape
    frequencies = theta ** (-np.arange(0, size, 2) / size)
    angles = np.arange(length)[:, None] * frequencies
    first, second = heads[..., : size // 2], heads[..., size // 2 :]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], -1)
