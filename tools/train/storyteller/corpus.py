"""Writes build/: the tokenizer and the encoded stories, a training part and a held-out part.

Story n of a seed is always the same text, whatever the number of processes.
"""

import argparse
import json
import random
from multiprocessing import Pool
from pathlib import Path

import numpy as np

import bpe
from grammar.stories import tell

BUILD = Path(__file__).parent / "build"
VOCAB_SIZE = 2048
TOKENIZER_STORIES = 40_000
CHUNK = 2_000


def story(seed: int, index: int) -> str:
    return tell(random.Random(f"storyteller/{seed}/{index}"))


def _stories(chunk: tuple[int, int, int]) -> list[str]:
    seed, first, last = chunk
    return [story(seed, index) for index in range(first, last)]


def chunks(seed: int, first: int, last: int) -> list[tuple[int, int, int]]:
    return [(seed, start, min(start + CHUNK, last)) for start in range(first, last, CHUNK)]


class Encoder:
    """Encodes a chunk of stories in a worker process; each story is followed by the end-of-text token."""

    def __init__(self, tokenizer: bpe.Tokenizer, excluded: frozenset[str]):
        self.tokenizer = tokenizer
        self.excluded = excluded

    def __call__(self, chunk: tuple[int, int, int]) -> tuple[list[int], np.ndarray]:
        lengths, ids = [], []
        for text in _stories(chunk):
            if text not in self.excluded:
                encoded = [*self.tokenizer.encode(text), self.tokenizer.end_of_text]
                lengths.append(len(encoded))
                ids.extend(encoded)
        return lengths, np.array(ids, dtype=np.uint16)


def encode(name: str, encoder: Encoder, parts: list[tuple[int, int, int]], pool) -> dict[str, int]:
    """Writes build/<name>-tokens.npy and build/<name>-starts.npy (index of each story's first token)."""
    lengths: list[int] = []
    tokens: list[np.ndarray] = []
    for part_lengths, part_tokens in pool.imap(encoder, parts):
        lengths.extend(part_lengths)
        tokens.append(part_tokens)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    np.save(BUILD / f"{name}-tokens.npy", np.concatenate(tokens))
    np.save(BUILD / f"{name}-starts.npy", starts)
    return {"stories": len(lengths), "tokens": int(sum(lengths))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stories", type=int, default=400_000)
    parser.add_argument("--held-out", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    BUILD.mkdir(exist_ok=True)

    with Pool(options.processes) as pool:
        sample = [text for part in pool.imap(_stories, chunks(options.seed, 0, TOKENIZER_STORIES)) for text in part]
        tokenizer = bpe.train(sample, VOCAB_SIZE)
        (BUILD / "tokenizer.json").write_text(json.dumps(tokenizer.to_json(), ensure_ascii=False, indent=2), "utf-8")

        first_held_out = options.stories
        held_out = chunks(options.seed, first_held_out, first_held_out + options.held_out)
        # Two seeds of the same grammar can tell the same short story: none of those may be trained on.
        excluded = frozenset(text for part in pool.imap(_stories, held_out) for text in part)
        summary = {
            "seed": options.seed,
            "train": encode("train", Encoder(tokenizer, excluded), chunks(options.seed, 0, options.stories), pool),
            "heldOut": encode("held-out", Encoder(tokenizer, frozenset()), held_out, pool),
        }
    (BUILD / "corpus.json").write_text(json.dumps(summary, indent=2))
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
