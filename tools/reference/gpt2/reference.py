"""Values of GPT-2 for the generated checkpoints, in float64.

    node tools/reference/gpt2/write-checkpoints.ts <folder>
    python3 tools/reference/gpt2/reference.py <folder>

writes tools/reference/fixtures/checkpoints-reference.json. It reads the very bytes that the tests serve.
"""

import hashlib
import json
import math
import sys
from pathlib import Path

import numpy as np

from gpt2 import Gpt2, read_weights

PROMPTS = ("Hi", "Once upon a time, there was a little robot")
NUM_TINY_TOKENS = 8
NUM_FULL_SIZE_TOKENS = 4
FULL_SIZE = "generated/gpt2"
NUM_TOP = 20
TARGET = Path(__file__).parents[1] / "fixtures" / "checkpoints-reference.json"


def greedy(model, ids, num_tokens):
    """The likeliest next tokens, and the smallest distance of the two largest logits."""
    ids, margin = list(ids), math.inf
    for _ in range(num_tokens):
        [logits] = model.logits(ids, -1)
        second, first = np.sort(logits)[-2:]
        margin = min(margin, first - second)
        ids.append(int(np.argmax(logits)))
    return ids[-num_tokens:], float(margin)


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
    model = Gpt2(json.loads((folder / "config.json").read_text()), read_weights(folder))
    num_tokens = NUM_FULL_SIZE_TOKENS if is_full_size else NUM_TINY_TOKENS
    prompts = []
    for prompt in PROMPTS:
        # The generated tokenizers have one token per byte.
        ids = list(prompt.encode())
        tokens, margin = greedy(model, ids, num_tokens)
        expected = describe(model.logits(ids, -1)[0], not is_full_size)
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
