"""Values of sentence-transformers in float64 on the CPU, for the generated encoders and for all-MiniLM-L6-v2: see README.md."""

from __future__ import annotations

import base64
import random
import sys
from pathlib import Path

import numpy
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from support import COMPACT, files_of, read_json, rounded, write

DATA = read_json("encoder/texts.json")
TEXTS = DATA["texts"]
MAX_TOKENS = 256


def load(kind: type, folder: Path):
    return kind(str(folder), device="cpu", model_kwargs={"dtype": torch.float64})


def embeddings(folder: Path) -> dict:
    model = load(SentenceTransformer, folder)
    prompt = model.prompts["query"]
    return {
        "texts": TEXTS,
        "embeddings": [rounded(model.encode(text).tolist()) for text in TEXTS],
        "queries": [rounded(model.encode(text, prompt=prompt).tolist()) for text in TEXTS[:3]],
    }


def ranking(folder: Path) -> dict:
    model, query = load(CrossEncoder, folder), DATA["query"]
    scores = [float(model.predict([(query, text)], activation_fn=torch.nn.Sigmoid())[0]) for text in TEXTS]
    return {"query": query, "documents": TEXTS, "scores": scores}


def generated(folder: Path) -> dict:
    read = ranking if folder.name == "cross-encoder" else embeddings
    return {"files": files_of(folder), **read(folder)}


def minilm(folder: Path) -> dict:
    """200 texts of 1 to 256 tokens and their vectors as base64 of float16, whose rounding changes no cosine by 1e-6."""
    draw = random.Random(7)
    lengths = [1 + round(180 * (index / 199) ** 2) for index in range(200)]
    texts = [" ".join(draw.choice(DATA["words"]) for _ in range(length)) for length in lengths]
    model = load(SentenceTransformer, folder)
    numbers = [len(model.tokenizer(text, truncation=True, max_length=MAX_TOKENS)["input_ids"]) for text in texts]
    vectors = numpy.stack([model.encode(text) for text in texts]).astype("<f2")
    encoded = base64.b64encode(vectors.tobytes()).decode()
    return {"texts": texts, "numTokens": numbers, "dimensions": vectors.shape[1], "vectors": encoded}


torch.set_num_threads(1)
root = Path(sys.argv[1])
write("encoders", {f"generated/{folder.name}": generated(folder) for folder in sorted(root.glob("generated/*"))}, **COMPACT)
write("minilm", minilm(root / "minilm"), ensure_ascii=False, indent=0)
