"""Writes blocks of each GGUF type with the values that the package `gguf` decodes them to. See README.md."""

import base64
import json
from pathlib import Path

import numpy as np
from gguf import quants
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

NUM_BLOCKS = 4

# Byte offsets of the fp16 numbers of a block. Random bits there would make infinities.
FLOATS_AT = {
    "Q4_0": [0],
    "Q4_1": [0, 2],
    "Q5_0": [0],
    "Q5_1": [0, 2],
    "Q8_0": [0],
    "Q4_K": [0, 2],
    "Q5_K": [0, 2],
    "Q6_K": [208],
}


def encode(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode()


def main() -> None:
    rng = np.random.default_rng(7)
    reference = {}
    for name, offsets in FLOATS_AT.items():
        dtype = GGMLQuantizationType[name]
        blocks = rng.integers(0, 256, (NUM_BLOCKS, GGML_QUANT_SIZES[dtype][1]), dtype=np.uint8)
        for at in offsets:
            floats = (rng.normal(size=NUM_BLOCKS) * 0.01).astype(np.float16)
            blocks[:, at : at + 2] = floats.view(np.uint8).reshape(NUM_BLOCKS, 2)
        values = quants.dequantize(blocks.reshape(-1), dtype).astype(np.float32)
        reference[name] = {"bytes": encode(blocks), "values": encode(values)}
    target = Path(__file__).parents[1] / "fixtures" / "gguf-blocks-reference.json"
    target.write_text(json.dumps(reference, indent=2) + "\n")


main()
