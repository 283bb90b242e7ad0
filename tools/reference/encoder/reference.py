"""Values of sentence-transformers for the generated encoders, in float64 on the CPU.

    python reference.py <folder of checkpoints> <fixture to write>

The models are loaded from the very bytes that the tests serve.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import torch
from sentence_transformers import CrossEncoder, SentenceTransformer

TEXTS = (
    "the quick brown fox",
    "a",
    "The wizards searched for texts, while seven dogs jumped!",
    "Ünïcode: é, 日本, 🦊 and over-lazy foxes.",
    "seven " * 40,
    "brown dog in the text of a wizard?",
    "  spaces   and\ttabs\n",
)
QUERY = "search for a quick fox"
ROOT_OPTIONS = {"device": "cpu", "model_kwargs": {"dtype": torch.float64}}


def embeddings(folder: Path) -> dict:
    model = SentenceTransformer(str(folder), **ROOT_OPTIONS)
    prompt = model.prompts["query"]
    return {
        "texts": list(TEXTS),
        "embeddings": [rounded(model.encode(text)) for text in TEXTS],
        "queries": [rounded(model.encode(text, prompt=prompt)) for text in TEXTS[:3]],
    }


def ranking(folder: Path) -> dict:
    model = CrossEncoder(str(folder), **ROOT_OPTIONS)
    scores = [float(model.predict([(QUERY, text)], activation_fn=torch.nn.Sigmoid())[0]) for text in TEXTS]
    return {"query": QUERY, "documents": list(TEXTS), "scores": scores}


def rounded(values) -> list[float]:
    return [float(f"{value:.7g}") for value in values.tolist()]


def describe(path: Path) -> dict:
    content = path.read_bytes()
    return {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def main() -> None:
    torch.set_num_threads(1)
    root, target = Path(sys.argv[1]), Path(sys.argv[2])
    reference = {}
    for folder in sorted(root.glob("*/*")):
        files = {str(path.relative_to(folder)): describe(path) for path in sorted(folder.rglob("*")) if path.is_file()}
        read = ranking if folder.name == "cross-encoder" else embeddings
        reference[str(folder.relative_to(root))] = {"files": files, **read(folder)}
    target.write_text(json.dumps(reference, separators=(",", ":")) + "\n")


main()
