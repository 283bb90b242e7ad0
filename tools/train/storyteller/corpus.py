"""Writes build/: tokenizer.json, tokens.npy with the training stories, and held-out.txt with others, one a line.

Story n of a seed is always the same text, whatever the number of processes.
"""

import argparse
import os
import random
from multiprocessing import Pool

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from stories import tell
from model import BUILD, END_OF_TEXT, config

TOKENIZER_STORIES = 40_000


def story(seed: int, index: int) -> str:
    return tell(random.Random(f"storyteller/{seed}/{index}"))


def train_tokenizer(texts: list[str], vocab_size: int) -> Tokenizer:
    """Byte-level BPE as GPT-2 has it; the end-of-text token is the last one."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=vocab_size - 1, initial_alphabet=alphabet, show_progress=False))
    tokenizer.add_special_tokens([END_OF_TEXT])
    if tokenizer.get_vocab_size() != vocab_size:
        raise ValueError(f"Expected text for {vocab_size} tokens, got only {tokenizer.get_vocab_size()}: use more stories")
    return tokenizer


def encode(tokenizer: Tokenizer, stories: list[str]) -> np.ndarray:
    """All stories in a row, each followed by the end-of-text token."""
    end = tokenizer.token_to_id(END_OF_TEXT)
    return np.fromiter((token for text in tokenizer.encode_batch_fast(stories) for token in (*text.ids, end)), dtype=np.uint16)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stories", type=int, default=150_000)
    parser.add_argument("--held-out", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    BUILD.mkdir(exist_ok=True)
    with Pool(os.cpu_count()) as pool:
        numbers = [(options.seed, index) for index in range(options.stories + options.held_out)]
        stories = pool.starmap(story, numbers, chunksize=1_000)
    held_out = stories[options.stories :]
    # Two numbers of the same grammar can tell the same short story: none of those may be trained on.
    excluded = frozenset(held_out)
    training = [text for text in stories[: options.stories] if text not in excluded]
    tokenizer = train_tokenizer(training[:TOKENIZER_STORIES], config().vocab_size)
    tokenizer.save(str(BUILD / "tokenizer.json"), pretty=False)
    tokens = encode(tokenizer, training)
    np.save(BUILD / "tokens.npy", tokens)
    (BUILD / "held-out.txt").write_text("\n".join(held_out), "utf-8")
    print(f"{len(training)} stories, {len(tokens)} tokens; {len(held_out)} stories held out")


if __name__ == "__main__":
    main()
