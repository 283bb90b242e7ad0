"""Values of a checkpoint for some sequences, in float64.

    python reference.py <folder of the checkpoint> <JSON: a list of {ids, first}> <file to write>

The file has the logits after each token from `first` on, but for the last one, as float64: sequence after sequence.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gpt2"))

from models import load_model  # noqa: E402

folder, sequences, target = map(Path, sys.argv[1:])
model = load_model(folder)
with target.open("wb") as file:
    for sequence in json.loads(sequences.read_text()):
        file.write(model.logits(sequence["ids"][:-1], sequence["first"]).tobytes())
