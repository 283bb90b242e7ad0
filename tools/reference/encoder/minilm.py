"""Vectors of sentence-transformers for all-MiniLM-L6-v2, in float64 on the CPU.

    python minilm.py <folder of the model> <fixture to write>

The fixture has 200 texts of 1 to 256 tokens and their vectors as base64 of float16, whose rounding changes no cosine by 1e-6.
"""

from __future__ import annotations

import base64
import json
import random
import sys

import numpy
import torch
from sentence_transformers import SentenceTransformer

WORDS = (
    "search notes over a tab without server model text batch token river mountain Paris 2026 café naïve über jumping "
    "quickly unbelievable transformers attention WebGPU I'm don't e-mail $5.99 日本語 🦊 Straße résumé the of and to in is it "
    "you that he was for on are with as his they be at one have this"
).split()


def texts() -> list[str]:
    draw = random.Random(7)
    lengths = [1 + round(180 * (index / 199) ** 2) for index in range(200)]
    return [" ".join(draw.choice(WORDS) for _ in range(length)) for length in lengths]


def main() -> None:
    torch.set_num_threads(1)
    model = SentenceTransformer(sys.argv[1], device="cpu", model_kwargs={"dtype": torch.float64})
    given = texts()
    numbers = [len(model.tokenizer(text, truncation=True, max_length=256)["input_ids"]) for text in given]
    print("tokens:", min(numbers), "to", max(numbers))
    vectors = numpy.stack([model.encode(text) for text in given]).astype("<f2")
    fixture = {
        "texts": given,
        "numTokens": numbers,
        "dimensions": vectors.shape[1],
        "vectors": base64.b64encode(vectors.tobytes()).decode(),
    }
    with open(sys.argv[2], "w") as file:
        json.dump(fixture, file, ensure_ascii=False, indent=0)
        file.write("\n")


main()
