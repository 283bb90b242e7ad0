"""What the package `gguf` writes and decodes for generated decoders in quantized types: see README.md."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path

import numpy as np
from gguf import GGUFReader, GGUFValueType, GGUFWriter, quants
from support import write

TYPES = ("Q8_0", "Q4_0")


class Writer(GGUFWriter):
    """Writes empty lists too: a tokenizer of bytes has no merges."""

    def _pack_val(self, val, vtype, add_vtype, sub_type=None):
        if vtype != GGUFValueType.ARRAY or len(val) > 0:
            return super()._pack_val(val, vtype, add_vtype, sub_type)
        return self._pack("I", vtype) + self._pack("I", sub_type) + self._pack("Q", 0)


def rewrite(given: GGUFReader, exact: GGUFReader, path: Path) -> dict:
    """The keys of one file, with the values of another in the first one's types."""
    writer = Writer(path, given.get_field("general.architecture").contents())
    for field in given.fields.values():
        if not field.name.startswith("GGUF.") and field.name != "general.architecture":
            writer.add_key_value(field.name, field.contents() if len(field.data) else [], *types_of(field))
    values = hashlib.sha256()
    for typed, tensor in zip(given.tensors, exact.tensors, strict=True):
        data = quants.quantize(tensor.data, typed.tensor_type)
        writer.add_tensor(tensor.name, data, raw_dtype=typed.tensor_type)
        # Factors of the rope are no weights. The sum has no negative zero.
        if not tensor.name.startswith("rope_"):
            values.update((quants.dequantize(data, typed.tensor_type) + np.float32(0)).astype("<f4").tobytes())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return {"file": hashlib.sha256(path.read_bytes()).hexdigest(), "values": values.hexdigest()}


def types_of(field) -> tuple:
    return field.types[0], (field.types[1] if len(field.types) > 1 else GGUFValueType.STRING)


def reference_of(folder: Path, target: Path) -> dict:
    exact = GGUFReader(folder / "F32.gguf")
    return {name: rewrite(GGUFReader(folder / f"{name}.gguf"), exact, target) for name in TYPES}


with tempfile.TemporaryDirectory() as temporary:
    folders = sorted(Path(sys.argv[1]).glob("*/*"))
    root = Path(sys.argv[1])
    value = {str(folder.relative_to(root)): reference_of(folder, Path(temporary) / "file.gguf") for folder in folders}
write("gguf-decoders", value, indent=1)
