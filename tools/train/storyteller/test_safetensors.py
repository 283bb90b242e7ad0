import json
import struct
import tempfile
import unittest
from pathlib import Path

import numpy as np

import safetensors

TENSORS = {
    "wte.weight": np.arange(12, dtype=np.float16).reshape(3, 4),
    "ln_f.bias": np.array([0.5], dtype=np.float16),
    "scale": np.array([[1.5, -2.0]], dtype=np.float32),
}


class Safetensors(unittest.TestCase):
    def setUp(self):
        self.content = safetensors.to_bytes(TENSORS)
        (self.length,) = struct.unpack("<Q", self.content[:8])
        self.header = json.loads(self.content[8 : 8 + self.length])

    def test_round_trip(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.safetensors"
            path.write_bytes(self.content)
            loaded = safetensors.load(path)
        self.assertEqual(list(loaded), list(TENSORS))
        for name, tensor in TENSORS.items():
            self.assertEqual(loaded[name].dtype, tensor.dtype)
            np.testing.assert_array_equal(loaded[name], tensor)

    def test_header_is_padded_with_spaces_to_eight_bytes(self):
        self.assertEqual(self.length % 8, 0)
        self.assertEqual(self.content[8 : 8 + self.length].rstrip(b" ")[-1:], b"}")

    def test_offsets_follow_each_other_to_the_end_of_the_file(self):
        entries = [entry for name, entry in self.header.items() if name != "__metadata__"]
        ends = [entry["data_offsets"][1] for entry in entries]
        self.assertEqual([entry["data_offsets"][0] for entry in entries], [0, *ends[:-1]])
        self.assertEqual(8 + self.length + ends[-1], len(self.content))

    def test_metadata_names_the_format(self):
        self.assertEqual(self.header["__metadata__"], {"format": "pt"})


if __name__ == "__main__":
    unittest.main()
