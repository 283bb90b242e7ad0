"""Draws the houses, trains the network, and writes public/models/house-price and the end-to-end tests' reference.

Every number comes from the exported file, run in float64 by onnx_reader. Nothing is replaced unless all could be made.
"""

import os

# One thread: the layers are too small to split, and sums in one order make the run repeatable.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

import onnx_reader
from houses import FEATURES, corners, draw, price, sale_price
from model_card import errors, model_card
from network import to_onnx, train

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "public" / "models" / "house-price"
FIXTURE = ROOT / "tools" / "reference" / "fixtures" / "house-price-reference.json"
REFERENCES = 100
MAXIMUM_MAPE = 0.03


def write(path: Path, content: bytes) -> None:
    """Replaces the file in one step: others may be reading it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_bytes(content)
    temporary.replace(path)


def as_json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8")


def plain(number: float) -> float:
    """120 rather than 120.0, as a person would write it."""
    return int(number) if float(number).is_integer() else float(number)


def reference(model: bytes, houses: np.ndarray, seed: int) -> bytes:
    """Writes the expected values of the end-to-end tests, one house per line."""
    head = {
        "model": "house-price",
        "modelSha256": hashlib.sha256(model).hexdigest(),
        "seed": seed,
        "columns": [feature.name for feature in FEATURES],
    }
    prices = onnx_reader.run(model, houses)[:, 0]
    rows = ",\n".join(
        "    " + json.dumps({"features": [plain(value) for value in house], "price": euros})
        for house, euros in zip(houses.tolist(), prices.tolist())
    )
    return (json.dumps(head, indent=2)[:-2] + f',\n  "houses": [\n{rows}\n  ]\n}}\n').encode("utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--houses", type=int, default=60_000)
    parser.add_argument("--held-out", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)

    training, test, references = (np.random.default_rng([options.seed, part]) for part in range(3))
    houses = draw(options.houses, training)
    network = train(houses, sale_price(houses, training), options.seed)
    model = to_onnx(network, len(FEATURES))

    held_out = draw(options.held_out, test)
    sold, exact = sale_price(held_out, test), price(held_out)
    predicted = onnx_reader.run(model, held_out)[:, 0]
    scores = {
        "sold": errors(predicted, sold),
        "formula": errors(predicted, exact),
        "noise": errors(exact, sold),
        "corners": errors(onnx_reader.run(model, corners())[:, 0], price(corners())),
    }
    print(json.dumps({name: asdict(score) for name, score in scores.items()}, indent=2))
    if scores["sold"].mape >= MAXIMUM_MAPE:
        raise ValueError(f"Expected a MAPE below {MAXIMUM_MAPE:.0%}, got {scores['sold'].mape:.2%}: draw more houses")

    parameters = sum(p.numel() for p in network.parameters())
    card = model_card(vars(options), parameters, len(model), scores, exact)
    golden = reference(model, draw(REFERENCES, references), options.seed)
    write(PUBLISHED / "model.onnx", model)
    write(PUBLISHED / "features.json", as_json([asdict(feature) for feature in FEATURES]))
    write(PUBLISHED / "README.md", card.encode("utf-8"))
    write(FIXTURE, golden)


if __name__ == "__main__":
    main()
