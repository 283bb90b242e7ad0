"""What GPT-2 computes for the generated checkpoints, in float64: an implementation of its own, in NumPy alone.

    node tools/gpt2-reference/write-checkpoints.ts <folder>
    python3 tools/gpt2-reference/reference.py <folder>

writes e2e/fixtures/checkpoints-reference.json. It follows the definition of GPT-2 in huggingface/transformers
(modeling_gpt2.py, activations.py), of which it shares no code, and reads the very bytes that the tests serve.
"""

import hashlib
import json
import math
import sys
from pathlib import Path

import numpy as np

PROMPTS = ("Hi", "Once upon a time, there was a little robot")
NUM_TINY_TOKENS = 8
NUM_FULL_SIZE_TOKENS = 4
FULL_SIZE = "generated/gpt2"
NUM_TOP = 20
TARGET = Path(__file__).parents[2] / "e2e" / "fixtures" / "checkpoints-reference.json"


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
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            file.seek(8 + header_length + begin)
            values = read_floats(entry["dtype"], file.read(end - begin))
            if values is not None:
                tensors[name.removeprefix("transformer.")] = values.astype(np.float64).reshape(entry["shape"])


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
    def __init__(self, folder):
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = {}
        for path in sorted(folder.glob("*.safetensors")):
            read_safetensors(path, self.weights)
        is_tied = self.config.get("tie_word_embeddings", True)
        self.head = self.weights["wte.weight" if is_tied else "lm_head.weight"]

    def logits(self, ids):
        """Of the last token, [vocab]."""
        hidden = self.weights["wte.weight"][ids] + self.weights["wpe.weight"][: len(ids)]
        for layer in range(self.config["n_layer"]):
            h = f"h.{layer}"
            hidden = hidden + self.attention(self.norm(hidden, f"{h}.ln_1"), layer)
            hidden = hidden + self.mlp(self.norm(hidden, f"{h}.ln_2"), f"{h}.mlp")
        return self.head @ self.norm(hidden, "ln_f")[-1]

    def greedy(self, ids, num_tokens):
        """The likeliest next tokens, and the smallest distance of the two largest logits."""
        ids, margin = list(ids), math.inf
        for _ in range(num_tokens):
            logits = self.logits(ids)
            second, first = np.sort(logits)[-2:]
            margin = min(margin, first - second)
            ids.append(int(np.argmax(logits)))
        return ids[-num_tokens:], float(margin)

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


def describe(logits, is_whole):
    if is_whole:
        return {"logits": [float(f"{value:.7g}") for value in logits]}
    top = np.argsort(-logits, kind="stable")[:NUM_TOP]
    return {
        "topIds": top.tolist(),
        "topLogits": [float(f"{value:.7g}") for value in logits[top]],
        "rms": float(np.sqrt((logits**2).mean())),
    }


def digest(path):
    sha256 = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 24):
            sha256.update(chunk)
    return sha256.hexdigest()


def reference_of(folder, is_full_size):
    model = Gpt2(folder)
    num_tokens = NUM_FULL_SIZE_TOKENS if is_full_size else NUM_TINY_TOKENS
    prompts = []
    for prompt in PROMPTS:
        # A token per byte: what the generated tokenizers give.
        ids = list(prompt.encode())
        tokens, margin = model.greedy(ids, num_tokens)
        expected = describe(model.logits(ids), not is_full_size)
        prompts.append(
            {"prompt": prompt, "promptTokenIds": ids, **expected, "greedyTokenIds": tokens, "minGreedyMargin": margin}
        )
    files = {path.name: {"size": path.stat().st_size, "sha256": digest(path)} for path in sorted(folder.iterdir())}
    return {"files": files, "prompts": prompts}


def main():
    root = Path(sys.argv[1])
    reference = {}
    for folder in sorted(root.glob("*/*")):
        name = str(folder.relative_to(root))
        reference[name] = reference_of(folder, name == FULL_SIZE)
        margins = [f"{entry['minGreedyMargin']:.4f}" for entry in reference[name]["prompts"]]
        print(name, "smallest margins", *margins, [entry["greedyTokenIds"] for entry in reference[name]["prompts"]])
    TARGET.write_text(json.dumps(reference, indent=None, separators=(",", ":")) + "\n")


main()
