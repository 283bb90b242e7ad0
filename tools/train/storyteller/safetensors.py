"""The safetensors format: an 8-byte little-endian header length, a JSON header, then the raw tensors."""

import json
import struct
from pathlib import Path

import numpy as np

DTYPES = {"F16": np.dtype("<f2"), "F32": np.dtype("<f4")}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}


def to_bytes(tensors: dict[str, np.ndarray]) -> bytes:
    """Serializes in the given order; the header is padded with spaces so that the data starts 8-byte aligned."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, tensor in tensors.items():
        header[name] = {
            "dtype": DTYPE_NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + tensor.nbytes],
        }
        offset += tensor.nbytes
    encoded = json.dumps(header, separators=(",", ":")).encode("utf-8")
    encoded += b" " * (-len(encoded) % 8)
    data = b"".join(np.ascontiguousarray(tensor).tobytes() for tensor in tensors.values())
    return struct.pack("<Q", len(encoded)) + encoded + data


def load(path: Path) -> dict[str, np.ndarray]:
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        first, last = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(content[first:last], DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors
