"""Llama, Qwen 3 and Gemma 3 in float64: an implementation of its own, in NumPy alone.

It follows the definitions in huggingface/transformers (modeling_llama.py, modeling_qwen3.py, modeling_gemma3.py), of
which it shares no code.
"""

from __future__ import annotations

import math

import numpy as np


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(-x))


class Decoder:
    def __init__(self, config: dict, weights: dict[str, np.ndarray]) -> None:
        if config.get("rope_scaling"):
            raise ValueError("Expected a model without rope_scaling: its frequencies are not computed here.")
        self.config = config
        self.weights = weights
        self.is_gemma = config["model_type"] == "gemma3_text"
        self.head_size = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
        self.epsilon = config["rms_norm_eps"]
        self.activation = gelu_tanh if self.is_gemma else silu

    def logits(self, ids: list[int], first: int) -> np.ndarray:
        """Logits after each token from `first` on, [tokens, vocab]."""
        embedding = self.weights["model.embed_tokens.weight"]
        hidden = embedding[ids]
        if self.is_gemma:
            hidden = hidden * math.sqrt(self.config["hidden_size"])
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
        length, num_heads = len(x), config["num_attention_heads"]

        def heads(part: str, count: int) -> np.ndarray:
            """[heads, tokens, head size]"""
            values = (x @ self.weights[f"{name}.{part}_proj.weight"].T).reshape(length, count, size)
            has_norm = f"{name}.{part}_norm.weight" in self.weights
            return (self.norm(values, f"{name}.{part}_norm") if has_norm else values).transpose(1, 0, 2)

        num_kv_heads = config["num_key_value_heads"]
        window = self.window(layer)
        is_local = self.is_gemma and window < math.inf
        theta = config["rope_local_base_freq" if is_local else "rope_theta"]
        query = rotated(heads("q", num_heads), theta)
        # Each K/V head serves as many neighboring heads.
        key = np.repeat(rotated(heads("k", num_kv_heads), theta), num_heads // num_kv_heads, 0)
        value = np.repeat(heads("v", num_kv_heads), num_heads // num_kv_heads, 0)
        distance = np.arange(length)[:, None] - np.arange(length)
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(config.get("query_pre_attn_scalar", size))
        scores = np.where((distance >= 0) & (distance < window), scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = weights / weights.sum(-1, keepdims=True) @ value
        return mixed.transpose(1, 0, 2).reshape(length, -1) @ self.weights[f"{name}.o_proj.weight"].T

    def window(self, layer: int) -> float:
        """The latest tokens that a token attends to."""
        is_full = not self.is_gemma or (layer + 1) % self.config["sliding_window_pattern"] == 0
        return math.inf if is_full else self.config["sliding_window"]

    def mlp(self, x: np.ndarray, name: str) -> np.ndarray:
        gate, up, down = (self.weights[f"{name}.{part}_proj.weight"].T for part in ("gate", "up", "down"))
        return (self.activation(x @ gate) * (x @ up)) @ down

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        scaled = x / np.sqrt((x**2).mean(-1, keepdims=True) + self.epsilon)
        return scaled * (self.weights[f"{name}.weight"] + (1 if self.is_gemma else 0))


def rotated(heads: np.ndarray, theta: float) -> np.ndarray:
    """Turns the first half of each head with its second by the position, [heads, tokens, head size]."""
    _, length, size = heads.shape
    frequencies = theta ** (-np.arange(0, size, 2) / size)
    angles = np.arange(length)[:, None] * frequencies
    first, second = heads[..., : size // 2], heads[..., size // 2 :]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], -1)
