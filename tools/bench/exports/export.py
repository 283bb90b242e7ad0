"""Writes a model in the formats of the other libraries. Usage: export.py SOURCE FOLDER

A GGUF file of a Llama: `onnx-model/` as onnxruntime-genai's model builder makes those of the hub, with an 8-bit one by onnxruntime's
dynamic quantization, and `model.TYPE.gguf` in other types by llama.cpp's own package.
A folder with GPT-2: `plain/` by the exporter of transformers, and `fused/` with onnxruntime's fused operators.
A folder with BERT: `onnx/` by the exporter of transformers, and in eight bits with the settings of transformers.js' converter.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import gguf
import numpy as np
import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers.optimizer import optimize_model
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer, DynamicCache
from transformers.exporters.exporter_onnx import OnnxConfig, OnnxExporter

GGUF_TYPES = (gguf.GGMLQuantizationType.Q8_0, gguf.GGMLQuantizationType.F16)

# The builder's precision and execution provider, by transformers.js' suffix of the file.
BUILDS = {"": ("fp32", "cpu"), "_fp16": ("fp16", "webgpu"), "_q4f16": ("int4", "webgpu")}


def main() -> None:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    if source.suffix == ".gguf":
        with TemporaryDirectory() as scratch:
            export_llama(source, target / "onnx-model", Path(scratch))
        for kind in GGUF_TYPES:
            write_gguf(source, target / f"model.{kind.name}.gguf", kind)
    elif json.loads((source / "config.json").read_text())["model_type"] == "gpt2":
        export_gpt2(source, target)
    else:
        export_bert(source, target / "onnx")


def export_llama(source: Path, target: Path, scratch: Path) -> None:
    checkpoint = scratch / "checkpoint"
    options = {"gguf_file": source.name}
    read = AutoModelForCausalLM.from_pretrained(source.parent, dtype=torch.float32, **options)
    # A model that was read from GGUF can't be saved: it counts as quantized.
    if hasattr(read.config, "quantization_config"):
        del read.config.quantization_config
    model = AutoModelForCausalLM.from_config(read.config, dtype=torch.float32)
    model.load_state_dict(read.state_dict())
    model.save_pretrained(checkpoint)
    AutoTokenizer.from_pretrained(source.parent, **options).save_pretrained(checkpoint)
    (target / "onnx").mkdir(parents=True)
    for suffix, (precision, provider) in BUILDS.items():
        built = scratch / f"built{suffix}"
        builder = [sys.executable, "-m", "onnxruntime_genai.models.builder", "-c", scratch / "cache"]
        subprocess.run([*builder, "-i", checkpoint, "-o", built, "-p", precision, "-e", provider], check=True)
        # One file, as the hub has models of this size: the builder keeps the weights apart.
        save(onnx.load(built / "model.onnx"), target / "onnx" / f"model{suffix}.onnx", model.config.num_key_value_heads, model.config.head_dim)
    copy_configuration(checkpoint, target, {"transformers.js_config": {"kv_cache_dtype": {"fp16": "float16", "q4f16": "float16"}}})
    quantize_dynamic(target / "onnx" / "model.onnx", target / "onnx" / "model_quantized.onnx", weight_type=QuantType.QUInt8)


def export_gpt2(source: Path, target: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32).eval()
    heads, width = model.config.n_head, model.config.n_embd
    for name, fusions in (("plain", None), ("fused", "cpu")):
        folder = target / name
        (folder / "onnx").mkdir(parents=True)
        graph = exported_graph(model, decoder_inputs(model), fusions)
        if fusions is not None:
            graph = optimize_model(graph, model_type="gpt2", num_heads=heads, hidden_size=width, opt_level=0).model
        save(graph, folder / "onnx" / "model.onnx", heads, width // heads)
        copy_configuration(source, folder, {})
        # GPT-2 has no token for padding, and a list of prompts needs one: its end token, as is customary.
        tokenizer = json.loads((source / "tokenizer_config.json").read_text())
        (folder / "tokenizer_config.json").write_text(json.dumps({**tokenizer, "pad_token": tokenizer["eos_token"]}))


def decoder_inputs(model: torch.nn.Module) -> dict:
    """Two rows of five tokens after three, of which the first row's first one is padding."""
    cache = DynamicCache(config=model.config)
    with torch.no_grad():
        model(input_ids=torch.ones(2, 3, dtype=torch.int64), past_key_values=cache, use_cache=True)
    mask = torch.ones(2, 8, dtype=torch.int64)
    mask[0, 0] = 0
    return {
        "input_ids": torch.ones(2, 5, dtype=torch.int64),
        "attention_mask": mask,
        "position_ids": torch.arange(3, 8).expand(2, -1),
        "past_key_values": cache,
        "use_cache": True,
    }


def save(exported: onnx.ModelProto, path: Path, heads: int, head_size: int) -> None:
    """Names a cache's values as transformers.js expects, and gives their shapes, by which it makes the first, empty cache."""
    names = {}
    for value in [*exported.graph.input, *exported.graph.output]:
        if "past_key_values" not in value.name and not value.name.startswith("present."):
            continue
        names[value.name] = standard_name(value.name)
        # transformers.js takes a dimension that has only a name for 0, but the batch.
        length = "past_sequence_length" if names[value.name].startswith("past") else "total_sequence_length"
        shape = onnx.helper.make_tensor_value_info("", onnx.TensorProto.FLOAT, ["batch_size", heads, length, head_size])
        value.type.tensor_type.shape.CopyFrom(shape.type.tensor_type.shape)
        value.name = names[value.name]
    for node in exported.graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    onnx.save(exported, path)


def standard_name(name: str) -> str:
    """`input.past_key_values.layers.3.keys` is `past_key_values.3.key`, and an output's is `present.3.key`."""
    if ".layers." not in name:
        return name
    side, _, _, layer, kind = name.split(".")
    return f"{'past_key_values' if side == 'input' else 'present'}.{layer}.{kind.removesuffix('s')}"


def copy_configuration(source: Path, target: Path, added: dict) -> None:
    for name in ("generation_config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(source / name, target / name)
    config = json.loads((source / "config.json").read_text())
    (target / "config.json").write_text(json.dumps({**config, **added}))


def export_bert(source: Path, target: Path) -> None:
    target.mkdir(parents=True)
    model = AutoModel.from_pretrained(source, dtype=torch.float32, attn_implementation="eager").eval()
    inputs = {name: torch.ones(2, 8, dtype=torch.int64) for name in ("input_ids", "attention_mask", "token_type_ids")}
    onnx.save(exported_graph(model, inputs, None), target / "model.onnx")
    quantized = {"weight_type": QuantType.QInt8, "per_channel": True, "reduce_range": True}
    quantize_dynamic(target / "model.onnx", target / "model_quantized.onnx", **quantized)


def exported_graph(model: torch.nn.Module, inputs: dict, fusions: str | None) -> onnx.ModelProto:
    exported = OnnxExporter().export(model, inputs, config=OnnxConfig(dynamic=True, ort_fusions=fusions))
    with TemporaryDirectory() as scratch:
        exported.save_pretrained(scratch)
        return onnx.load(Path(scratch) / "model.onnx")


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
