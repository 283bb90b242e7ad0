"""What llama.cpp's types lose on SmolLM2-135M-Instruct, with blocks that the package `gguf` makes and decodes: see README.md."""

from __future__ import annotations

import numpy as np
import torch
from gguf import GGMLQuantizationType, quants
from smollm2 import SmolLm2
from support import read_json

TYPES = ("Q8_0", "Q5_1", "Q5_0", "Q4_1", "Q4_0")

smollm2 = SmolLm2()
reference = read_json("fixtures/gguf-smollm2-reference.json")
chats = [chat["promptTokenIds"] + chat["tokenIds"] for chat in reference["chats"]]
matrices = {name: weight for name, weight in smollm2.model.named_parameters() if weight.ndim == 2}
whole = {name: weight.detach().clone() for name, weight in matrices.items()}


def losses() -> np.ndarray:
    weights = [len(ids) - 1 for ids in chats]
    of_chats = np.average([smollm2.loss(ids) for ids in chats], weights=weights)
    return np.array([smollm2.loss(reference["textTokenIds"]), of_chats])


exact = losses()
print("fp32: text {:.4f}, chats {:.4f}".format(*exact), flush=True)
for name in TYPES:
    for key, weight in matrices.items():
        # llama.cpp keeps the tied embedding in more bits; K-quants need widths that 256 divides.
        kind = GGMLQuantizationType["Q8_0" if "embed" in key else name]
        decoded = quants.dequantize(quants.quantize(whole[key].numpy(), kind), kind)
        weight.data = torch.from_numpy(decoded.astype("float32"))
    print(f"{name}: text {{:.4f}}, chats {{:.4f}} more".format(*(losses() - exact)), flush=True)
