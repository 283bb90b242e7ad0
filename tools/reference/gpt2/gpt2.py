"""GPT-2 in float64: an implementation of its own, in NumPy alone.

It follows the definition of GPT-2 in huggingface/transformers (modeling_gpt2.py, activations.py), of which it shares no
code.
"""

import json
import math

import numpy as np


def read_floats(dtype, data):
    if dtype == "F32":
        return np.frombuffer(data, "<f4")
    if dtype == "F16":
        return np.frombuffer(data, "<f2")
    if dtype == "BF16":
        return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
    return None


def read_safetensors(path, tensors):
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


def read_weights(folder):
    """Tensors by their names, from all safetensors files of the folder, without GPT-2's prefix."""
    tensors = {}
    for path in sorted(folder.glob("*.safetensors")):
        read_safetensors(path, tensors)
    return tensors


def erf(x):
    return np.vectorize(math.erf)(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS = {
    "gelu_new": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh,
    "gelu": lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))),
    "quick_gelu": lambda x: x * sigmoid(1.702 * x),
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x * sigmoid(x),
    "tanh": np.tanh,
    "sigmoid": sigmoid,
}


class Gpt2:
    def __init__(self, config, weights):
        self.config = config
        self.weights = weights
        is_tied = self.config.get("tie_word_embeddings", True)
        self.head = self.weights["wte.weight" if is_tied else "lm_head.weight"]

    def logits(self, ids, first):
        """Logits after each token from `first` on, [tokens, vocab]."""
        hidden = self.weights["wte.weight"][ids] + self.weights["wpe.weight"][: len(ids)]
        for layer in range(self.config["n_layer"]):
            h = f"h.{layer}"
            hidden = hidden + self.attention(self.norm(hidden, f"{h}.ln_1"), layer)
            hidden = hidden + self.mlp(self.norm(hidden, f"{h}.ln_2"), f"{h}.mlp")
        return self.norm(hidden, "ln_f")[first:] @ self.head.T

    def norm(self, x, name):
        centered = x - x.mean(-1, keepdims=True)
        variance = (centered**2).mean(-1, keepdims=True)
        scaled = centered / np.sqrt(variance + self.config["layer_norm_epsilon"])
        return scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def linear(self, x, name):
        return x @ self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def attention(self, x, layer):
        num_heads = self.config["n_head"]
        length, size = x.shape
        packed = self.linear(x, f"h.{layer}.attn.c_attn").reshape(length, 3, num_heads, size // num_heads)
        query, key, value = packed.transpose(1, 2, 0, 3)
        scores = query @ key.transpose(0, 2, 1)
        if self.config.get("scale_attn_weights", True):
            scores = scores / math.sqrt(size // num_heads)
        if self.config.get("scale_attn_by_inverse_layer_idx", False):
            scores = scores / (layer + 1)
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights = weights / weights.sum(-1, keepdims=True)
        mixed = (weights @ value).transpose(1, 0, 2).reshape(length, size)
        return self.linear(mixed, f"h.{layer}.attn.c_proj")

    def mlp(self, x, name):
        activation = ACTIVATIONS[self.config["activation_function"]]
        return self.linear(activation(self.linear(x, f"{name}.c_fc")), f"{name}.c_proj")
