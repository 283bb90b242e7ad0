"""Prints what llama.cpp's types lose on SmolLM2-135M-Instruct: blocks made and decoded by the package `gguf`. See README.md."""

import json
import sys
from pathlib import Path

import torch
from gguf import GGMLQuantizationType, quants
from transformers import AutoModelForCausalLM

TYPES = ["Q8_0", "Q5_1", "Q5_0", "Q4_1", "Q4_0"]


def main() -> None:
    path = Path(sys.argv[1])
    fixture = Path(__file__).parents[1] / "fixtures" / "gguf-smollm2-reference.json"
    reference = json.loads(fixture.read_text())
    texts = [reference["textTokenIds"]] + [chat["promptTokenIds"] + chat["tokenIds"] for chat in reference["chats"]]
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    matrices = {name: weight for name, weight in model.named_parameters() if weight.ndim == 2}
    whole = {name: weight.detach().clone() for name, weight in matrices.items()}

    def losses() -> tuple[float, float]:
        sums = []
        with torch.no_grad():
            for ids in texts:
                tokens = torch.tensor([ids])
                sums.append(model(tokens, labels=tokens).loss.item() * (len(ids) - 1))
        count = sum(len(ids) - 1 for ids in texts[1:])
        return sums[0] / (len(texts[0]) - 1), sum(sums[1:]) / count

    exact = losses()
    print(f"fp32: text {exact[0]:.4f}, chats {exact[1]:.4f}", flush=True)
    for name in TYPES:
        for key, weight in matrices.items():
            # llama.cpp keeps the tied embedding in more bits; K-quants need widths that 256 divides.
            kind = GGMLQuantizationType["Q8_0" if "embed" in key else name]
            decoded = quants.dequantize(quants.quantize(whole[key].numpy(), kind), kind)
            weight.data = torch.from_numpy(decoded.astype("float32"))
        text, chats = losses()
        print(f"{name}: text {text - exact[0]:.4f}, chats {chats - exact[1]:.4f} more", flush=True)


main()
