"""The houses: how they are drawn from a seed, and the formula of their price.

The features, their ranges and steps stand in the published features.json, in the order of the columns of every [n, 8] array.
"""

import json
from itertools import product
from pathlib import Path

import numpy as np

PUBLISHED = Path(__file__).parents[3] / "public" / "models" / "house-price"
FEATURES = json.loads((PUBLISHED / "features.json").read_text("utf-8"))
NOISE = 0.02  # standard deviation of the logarithm of a sale's price around the formula's
UNIFORM_SHARE = 0.4  # of houses, drawn evenly from the ranges: whatever the form allows, the network has seen the like


def price(houses: np.ndarray) -> np.ndarray:
    """Euros without noise, by the formula in card.txt: [n, 8] to [n]."""
    area, bedrooms, bathrooms, age, distance, plot, rating, garage = np.asarray(houses, dtype=np.float64).T
    location = 0.40 + 0.60 * np.exp(-distance / 9)
    wear = 1 - 0.35 * (1 - np.exp(-age / 35))
    charm = 1 + 0.20 * np.clip((age - 80) / 40, 0, 1) * np.exp(-distance / 6)
    rooms = 1 + 0.15 * (1 - np.exp(-bedrooms / 2)) - 0.25 * np.maximum(0, 1 - area / (20 * bedrooms))
    baths = 1 + 0.08 * (1 - np.exp(1 - bathrooms))
    energy = 0.85 + 0.25 * rating
    building = 5_600 * area * (area / 100) ** -0.12 * location * wear * charm * rooms * baths * energy
    return building + 1_100 * plot**0.75 * location**2 + 40_000 * location * garage


def sale_price(houses: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Prices of the houses: the formula's price times log-normal noise."""
    return price(houses) * np.exp(NOISE * generator.standard_normal(len(houses)))


def draw_likely(count: int, generator: np.random.Generator) -> np.ndarray:
    """Houses as they stand in a town: larger ones have more rooms, newer ones save energy, plots grow outwards."""
    area = np.exp(generator.normal(np.log(115), 0.4, count))
    bedrooms = area / 34 + generator.normal(0, 0.7, count)
    bathrooms = area / 90 + generator.normal(0.4, 0.5, count)
    age = generator.gamma(1.6, 25, count)
    distance = generator.gamma(1.8, 5, count)
    plot = area * np.exp(generator.normal(0.8, 0.5, count)) * (1 + distance / 15)
    rating = 0.9 - age / 140 + generator.normal(0, 0.15, count)
    garage = generator.random(count) < 0.35 + 0.4 * (1 - np.exp(-distance / 8))
    return np.stack([area, bedrooms, bathrooms, age, distance, plot, rating, garage], axis=1)


def corners() -> np.ndarray:
    """The 256 houses with every feature at an end of its range: the worst the form allows."""
    return np.array(list(product(*((feature["min"], feature["max"]) for feature in FEATURES))), dtype=np.float64)


def draw(count: int, generator: np.random.Generator) -> np.ndarray:
    """[count, 8] houses on the steps of FEATURES, a share of them uniform and the others likely ones, mixed."""
    low, high, step = np.array([[f["min"], f["max"], f["step"]] for f in FEATURES], dtype=np.float64).T
    uniform = generator.uniform(low, high, (count, len(FEATURES)))
    chosen = generator.random((count, 1)) < UNIFORM_SHARE
    houses = np.where(chosen, uniform, draw_likely(count, generator))
    # The last rounding takes off what multiplying by the step leaves behind: 0.1 * 3 is 0.30000000000000004.
    return np.round(np.clip(low + np.round((houses - low) / step) * step, low, high), 2)
