"""The model card, public/models/house-price/README.md, and the errors it states."""

from dataclasses import dataclass

import numpy as np

from houses import FEATURES, FORMULA, NOISE, UNIFORM_SHARE, Feature
from network import BATCH, EPOCHS, HIDDEN, OPSET


@dataclass(frozen=True)
class Errors:
    mae: float  # euros
    mape: float  # share of the true price
    r2: float


def errors(predicted: np.ndarray, true: np.ndarray) -> Errors:
    residual = predicted - true
    return Errors(
        mae=float(np.abs(residual).mean()),
        mape=float(np.abs(residual / true).mean()),
        r2=float(1 - (residual**2).sum() / ((true - true.mean()) ** 2).sum()),
    )


def error_row(name: str, score: Errors) -> str:
    return f"| {name} | {score.mae:,.0f} € | {score.mape:.2%} | {score.r2:.5f} |"


def feature_row(column: int, feature: Feature) -> str:
    return (
        f"| {column} | `{feature.name}` | {feature.label} | {feature.unit or '–'} "
        f"| {feature.min:g}–{feature.max:g} | {feature.step:g} | {feature.default:g} |"
    )


def model_card(
    options: dict[str, int], parameters: int, size: int, scores: dict[str, Errors], held_out_prices: np.ndarray
) -> str:
    low, middle, high = np.percentile(held_out_prices, [0, 50, 100])
    feature_rows = "\n".join(feature_row(column, feature) for column, feature in enumerate(FEATURES))
    return f"""---
license: mit
pipeline_tag: tabular-regression
---

# House price

A small dense network that estimates the price of a house in euros from eight features. It comes with Tabserve as a model whose
batches are one tensor: one row per request.

| | |
|---|---|
| architecture | {len(FEATURES)} → {HIDDEN} → {HIDDEN} → 1, ReLU, then exp: {parameters:,} parameters, {size:,} bytes |
| file | `model.onnx`, opset {OPSET}: `features` float32 [n, {len(FEATURES)}] to `price` float32 [n, 1] |
| trained on | {options["houses"]:,} generated houses (seed {options["seed"]}), {EPOCHS} epochs, Adam, batches of {BATCH}, squared error of the price's logarithm |
| held out | {options["held_out"]:,} other houses from {low:,.0f} € to {high:,.0f} €, half of them below {middle:,.0f} € |

Features go in raw, in the units below: both normalizations are part of the first and the last layer.

## Features

`features.json` has the same in the order of the columns.

| column | name | meaning | unit | range | step | default |
|---|---|---|---|---|---|---|
{feature_rows}

## The houses

There is no market behind them. A house's price is

```
{FORMULA}
```

in euros, and what it sold for is that times exp({NOISE:g} · z) with z standard normal. {UNIFORM_SHARE:.0%} of the houses are drawn evenly from the
ranges, the others as they stand in a town: larger ones have more rooms, newer ones save energy, plots grow with the
distance. `tools/train/house-price/houses.py` has the distributions.

## Test error

Of the exported weights on the held-out houses:

| | MAE | MAPE | R² |
|---|---|---|---|
{error_row("against what they sold for (noisy)", scores["sold"])}
{error_row("against the formula (noise-free)", scores["formula"])}
{error_row("the formula itself against what they sold for: the noise", scores["noise"])}

On the 256 houses with every feature at an end of its range, the MAPE against the formula is {scores["corners"].mape:.1%}.

## Intended use and limits

For showing and testing the serving of a model. It knows nothing about real prices. Outside the ranges it
extrapolates, and nobody has looked at how: check the input against `features.json`.

## Reproduce

`/usr/bin/python3 tools/train/house-price/train.py` makes every file of this folder from nothing. License: MIT.
"""
