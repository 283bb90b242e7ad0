"""Quantizes a matrix for int8 products with NumPy in float64, and multiplies with it. See README.md."""

from __future__ import annotations

import numpy as np
from support import write

NUM_ROWS = 72
LENGTH = 192
NUM_TOKENS = 3
GROUP = 64


def hadamard(size: int) -> np.ndarray:
    matrix = np.ones((1, 1))
    while matrix.shape[0] < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix / np.sqrt(size)


def rotate(values: np.ndarray) -> np.ndarray:
    return (values.reshape(-1, GROUP) @ hadamard(GROUP)).reshape(values.shape)


def quantize(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Integers from -127 to 127 and a scale per row."""
    scales = np.abs(values).max(axis=1) / 127
    return np.floor(values / scales[:, None] + 0.5), scales


def main() -> None:
    rng = np.random.default_rng(11)
    weights = rng.normal(size=(NUM_ROWS, LENGTH)).astype(np.float32)
    tokens = rng.normal(size=(NUM_TOKENS, LENGTH)).astype(np.float32)
    # A value that rotation has to spread.
    tokens[1, 7] = 60
    codes, scales = quantize(rotate(weights.astype(np.float64)))
    inputs, steps = quantize(rotate(tokens.astype(np.float64)))
    reference = {
        "numRows": NUM_ROWS,
        "length": LENGTH,
        "weights": [round(float(value), 6) for value in weights.ravel()],
        "codes": codes.T.astype(int).ravel().tolist(),
        "scales": scales.tolist(),
        "tokens": [round(float(value), 6) for value in tokens.ravel()],
        "quantizedProducts": ((inputs @ codes.T) * steps[:, None] * scales[None, :]).ravel().tolist(),
        "products": (tokens.astype(np.float64) @ weights.astype(np.float64).T).ravel().tolist(),
    }
    write("int8", reference)


main()
