"""Values of a checkpoint for some sequences, in float64.

    python reference.py <folder of the checkpoint> <JSON: a list of {ids, first}> <file to write>

The file has the logits after each token from `first` on, but for the last one, as float64: sequence after sequence.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gpt2"))

from decoder import Decoder  # noqa: E402
from gpt2 import Gpt2, read_weights  # noqa: E402


def main() -> None:
    folder, sequences, target = map(Path, sys.argv[1:])
    config, weights = json.loads((folder / "config.json").read_text()), read_weights(folder)
    model = Gpt2(config, weights) if config["model_type"] == "gpt2" else Decoder(config, weights)
    with target.open("wb") as file:
        for sequence in json.loads(sequences.read_text()):
            file.write(model.logits(sequence["ids"][:-1], sequence["first"]).tobytes())


main()
