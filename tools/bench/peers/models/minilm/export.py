"""Writes a BERT in the layout of the hub's exports for transformers.js. Usage: export.py CHECKPOINT FOLDER

`FOLDER/onnx/` gets PyTorch's own export in fp32, and in eight bits by onnxruntime's dynamic quantization, with the settings of
transformers.js' converter for BERT.
"""

import sys
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import AutoModel

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def main() -> None:
    source, target = Path(sys.argv[1]), Path(sys.argv[2]) / "onnx"
    target.mkdir(parents=True)
    model = AutoModel.from_pretrained(source, dtype=torch.float32, attn_implementation="eager").eval()
    example = tuple(torch.ones(2, 8, dtype=torch.int64) for _ in INPUTS)
    torch.onnx.export(
        model,
        kwargs=dict(zip(INPUTS, example)) | {"return_dict": False},
        f=target / "model.onnx",
        input_names=list(INPUTS),
        output_names=["last_hidden_state"],
        dynamic_shapes={name: {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC} for name in INPUTS} | {"return_dict": None},
        external_data=False,
    )
    quantized = {"weight_type": QuantType.QInt8, "per_channel": True, "reduce_range": True}
    quantize_dynamic(target / "model.onnx", target / "model_quantized.onnx", **quantized)


main()
