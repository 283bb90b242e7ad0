"""Writes a Llama of a GGUF file in the formats of the other libraries. Usage: export.py FILE.gguf FOLDER

`FOLDER/onnx/` gets the export of onnxruntime-genai's model builder, as the hub has them: in fp32, and in eight bits by
onnxruntime's own dynamic quantization. `FOLDER/model.TYPE.gguf` gets the weights in other types, by llama.cpp's own package.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import gguf
import numpy as np
import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import AutoModelForCausalLM, AutoTokenizer

TYPES = (gguf.GGMLQuantizationType.Q8_0, gguf.GGMLQuantizationType.F16)


def main() -> None:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    with TemporaryDirectory() as scratch:
        write_onnx(source, target / "onnx-model", Path(scratch))
    for kind in TYPES:
        write_gguf(source, target / f"model.{kind.name}.gguf", kind)


def write_onnx(source: Path, target: Path, scratch: Path) -> None:
    checkpoint = scratch / "checkpoint"
    options = {"gguf_file": source.name}
    tokenizer = AutoTokenizer.from_pretrained(source.parent, **options)
    read = AutoModelForCausalLM.from_pretrained(source.parent, dtype=torch.float32, **options)
    # A model that was read from GGUF can't be saved: it counts as quantized.
    if hasattr(read.config, "quantization_config"):
        del read.config.quantization_config
    model = AutoModelForCausalLM.from_config(read.config, dtype=torch.float32)
    model.load_state_dict(read.state_dict())
    model.save_pretrained(checkpoint)
    tokenizer.save_pretrained(checkpoint)
    built = scratch / "built"
    builder = [sys.executable, "-m", "onnxruntime_genai.models.builder"]
    subprocess.run([*builder, "-i", checkpoint, "-o", built, "-p", "fp32", "-e", "cpu", "-c", scratch / "cache"], check=True)
    (target / "onnx").mkdir(parents=True)
    # One file, as the hub has models of this size: the builder keeps the weights apart.
    exported = onnx.load(built / "model.onnx")
    fix_head_size(exported, model.config.head_dim)
    onnx.save(exported, target / "onnx" / "model.onnx")
    for name in ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"):
        (target / name).write_bytes((checkpoint / name).read_bytes())
    quantize_dynamic(target / "onnx" / "model.onnx", target / "onnx" / "model_quantized.onnx", weight_type=QuantType.QUInt8)


def fix_head_size(exported: onnx.ModelProto, head_size: int) -> None:
    """transformers.js makes the first, empty cache by these shapes, and takes a dimension that has only a name for 0."""
    for value in [*exported.graph.input, *exported.graph.output]:
        if value.name.startswith(("past_key_values.", "present.")):
            value.type.tensor_type.shape.dim[3].dim_value = head_size


def write_gguf(source: Path, target: Path, kind: gguf.GGMLQuantizationType) -> None:
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, "llama")
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == gguf.Keys.General.ARCHITECTURE:
            continue
        sub_type = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), field.types[0], sub_type)
    for tensor in reader.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type).reshape(*reversed(tensor.shape.tolist()))
        # Vectors stay in fp32, as llama.cpp's converter has them.
        stored = kind if values.ndim > 1 else gguf.GGMLQuantizationType.F32
        writer.add_tensor(tensor.name, gguf.quantize(values.astype(np.float32), stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()
