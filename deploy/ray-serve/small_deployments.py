"""The adder and the house price of the tutorials, batched as in the page."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from ray import serve

from completion_request import InvalidRequest

SIMULATED_WORK_S = 0.2

MODELS = Path(os.environ.get("TABSERVE_MODELS", Path(__file__).resolve().parents[2] / "public" / "models"))


@serve.deployment
class Adder:
    @serve.batch(max_batch_size=4, batch_wait_timeout_s=0.0)
    async def __call__(self, numbers: list[float]) -> list[float]:
        await asyncio.sleep(SIMULATED_WORK_S)
        return [number + 1 for number in numbers]


@serve.deployment
class HousePrice:
    """Euros, from houses given as numbers in the order of the model's features."""

    def __init__(self) -> None:
        import onnxruntime

        self._features = json.loads((MODELS / "house-price" / "features.json").read_text())
        self._session = onnxruntime.InferenceSession(
            str(MODELS / "house-price" / "model.onnx"), providers=["CPUExecutionProvider"]
        )

    async def __call__(self, house: Any) -> float:
        return await self._predict(check_house(house, self._features))

    @serve.batch(max_batch_size=32, batch_wait_timeout_s=0.1)
    async def _predict(self, houses: list[list[float]]) -> list[float]:
        import numpy

        rows = numpy.asarray(houses, dtype=numpy.float32)
        (prices,) = await asyncio.to_thread(self._session.run, None, {"features": rows})
        return [float(price) for price in prices.ravel()]


def check_house(house: Any, features: list[dict[str, Any]]) -> list[float]:
    """Refuses values outside the ranges of the training data, where the model only guesses."""
    if not isinstance(house, list) or len(house) != len(features):
        names = ", ".join(feature["name"] for feature in features)
        raise InvalidRequest.of("features", f"a list of {len(features)} numbers ({names})", house)
    for feature, value in zip(features, house):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not feature["min"] <= value <= feature["max"]:
            expected = f"a number from {feature['min']} to {feature['max']}"
            raise InvalidRequest.of(feature["name"], expected, value)
    return [float(value) for value in house]
