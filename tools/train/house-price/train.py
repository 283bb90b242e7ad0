"""Draws the houses, trains the network, and writes public/models/house-price and the end-to-end tests' reference.

Every number comes from the exported file, run in float64 by onnx's reference evaluator, which shares no code with PyTorch.
"""

import argparse
import hashlib
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx.reference import ReferenceEvaluator
from torch import nn

from houses import FEATURES, NOISE, PUBLISHED, UNIFORM_SHARE, corners, draw, price, sale_price

sys.path.insert(0, str(Path(__file__).parents[1]))

from export import FIXTURES, OPSET, Layer, as_json, dense_onnx, publish, read_layers  # noqa: E402

FIXTURE = FIXTURES / "house-price-reference.json"
HIDDEN = 64
BATCH = 512
EPOCHS = 120
LEARNING_RATE = 4e-3
REFERENCES = 100
MAXIMUM_MAPE = 0.03


def dense(inputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))


def train(houses: np.ndarray, prices: np.ndarray) -> list[Layer]:
    """Learns the logarithm of the price, so that its error is relative and a price is never negative."""
    mean, deviation = houses.mean(0), houses.std(0)
    log_prices = np.log(prices)
    offset, scale = log_prices.mean(), log_prices.std()
    inputs = torch.from_numpy((houses - mean) / deviation).float()
    targets = torch.from_numpy((log_prices - offset) / scale).float().unsqueeze(1)
    network = dense(houses.shape[1])
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(inputs)).split(BATCH):
            loss = nn.functional.mse_loss(network(inputs[rows]), targets[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
        if (epoch + 1) % 10 == 0:
            print(f"epoch {epoch + 1} of {EPOCHS}: loss {loss.item():.6f}", flush=True)
    return fold(network, mean, deviation, offset, scale)


def fold(network: nn.Sequential, mean: np.ndarray, deviation: np.ndarray, offset: float, scale: float) -> list[Layer]:
    """The layers with both normalizations in the first and the last one, folded in float64, so that it costs no precision."""
    linear = [layer for layer in network if isinstance(layer, nn.Linear)]
    layers = [(layer.weight.detach().double().numpy().T, layer.bias.detach().double().numpy()) for layer in linear]
    (first, first_bias), middle, (last, last_bias) = layers
    first = first / deviation[:, None]
    folded = [(first, first_bias - mean @ first), middle, (last * scale, last_bias * scale + offset)]
    return [(weights.astype(np.float32), biases.astype(np.float32)) for weights, biases in folded]


def house_price_onnx(layers: list[Layer]) -> onnx.ModelProto:
    return dense_onnx("house-price", "features", "price", layers, last="Exp")


def predict(model: onnx.ModelProto, houses: np.ndarray) -> np.ndarray:
    """Prices [n] by the file's weights in float64; features are rounded to float32 first, as a caller's tensor is."""
    double = house_price_onnx([(weights.astype(np.float64), biases.astype(np.float64)) for weights, biases in read_layers(model)])
    return ReferenceEvaluator(double).run(None, {"features": houses.astype(np.float32).astype(np.float64)})[0][:, 0]


def errors(predicted: np.ndarray, true: np.ndarray) -> dict[str, float]:
    residual = predicted - true
    return {
        "mae": np.abs(residual).mean(),
        "mape": np.abs(residual / true).mean(),
        "r2": 1 - (residual**2).sum() / ((true - true.mean()) ** 2).sum(),
    }


def model_card(model: onnx.ModelProto, options: argparse.Namespace) -> str:
    """Refuses a model whose error is too large to publish."""
    generator = np.random.default_rng([options.seed, 1])
    held_out = draw(options.held_out, generator)
    sold, exact, predicted = sale_price(held_out, generator), price(held_out), predict(model, held_out)
    scores = {"sold": errors(predicted, sold), "formula": errors(predicted, exact), "noise_alone": errors(exact, sold)}
    if scores["sold"]["mape"] >= MAXIMUM_MAPE:
        raise ValueError(f"Expected a MAPE below {MAXIMUM_MAPE:.0%}, got {scores['sold']['mape']:.2%}: draw more houses")
    low, middle, high = np.percentile(exact, [0, 50, 100])
    rows = [
        f"| {column} | `{f['name']}` | {f['label']} | {f['unit'] or '–'} | {f['min']:g}–{f['max']:g} | {f['step']:g} | {f['default']:g} |"
        for column, f in enumerate(FEATURES)
    ]
    return (Path(__file__).parent / "card.txt").read_text("utf-8").format(
        **{name: f"{score['mae']:,.0f} € | {score['mape']:.2%} | {score['r2']:.5f}" for name, score in scores.items()},
        **vars(options),
        corners=errors(predict(model, corners()), price(corners()))["mape"],
        parameters=sum(weights.size + biases.size for weights, biases in read_layers(model)),
        size=model.ByteSize(),
        feature_rows="\n".join(rows),
        hidden=HIDDEN, epochs=EPOCHS, batch=BATCH, opset=OPSET, noise=NOISE, uniform_share=UNIFORM_SHARE, low=low, middle=middle, high=high,
    )  # fmt: skip


def reference(model: onnx.ModelProto, seed: int) -> dict[str, object]:
    """The expected prices of the end-to-end tests."""
    houses = draw(REFERENCES, np.random.default_rng([seed, 2]))
    entries = [{"features": features, "price": euros} for features, euros in zip(houses.tolist(), predict(model, houses).tolist())]
    digest = hashlib.sha256(model.SerializeToString()).hexdigest()
    columns = [feature["name"] for feature in FEATURES]
    return {"model": "house-price", "modelSha256": digest, "seed": seed, "columns": columns, "houses": entries}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--houses", type=int, default=60_000)
    parser.add_argument("--held-out", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # The layers are too small to split, and sums in one order make the run repeatable.
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    generator = np.random.default_rng([options.seed, 0])
    houses = draw(options.houses, generator)
    model = house_price_onnx(train(houses, sale_price(houses, generator)))
    publish(
        {
            PUBLISHED / "model.onnx": model.SerializeToString(),
            PUBLISHED / "README.md": model_card(model, options).encode(),
            FIXTURE: as_json(reference(model, options.seed)),
        }
    )


if __name__ == "__main__":
    main()
