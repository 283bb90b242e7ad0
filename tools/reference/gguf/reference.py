"""What the package `gguf` decodes, and what `transformers` answers with SmolLM2-135M-Instruct: see README.md."""

from __future__ import annotations

import base64
from typing import Iterator

import numpy as np
from gguf import quants
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType, Keys
from smollm2 import FILE, SmolLm2
from support import read_json, write

NUM_BLOCKS = 4
NUM_PROMPTS = 16
LENGTHS = (40, 200, 400)
NUM_CHAT_TOKENS, NUM_BENCH_TOKENS = 48, 64

# Byte offsets of the fp16 numbers of a block. Random bits there would make infinities.
FLOATS_AT = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}

DATA = read_json("gguf/texts.json")


def encode(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode()


def random_blocks() -> dict[str, dict]:
    rng = np.random.default_rng(7)
    reference = {}
    for name, offsets in FLOATS_AT.items():
        dtype = GGMLQuantizationType[name]
        blocks = rng.integers(0, 256, (NUM_BLOCKS, GGML_QUANT_SIZES[dtype][1]), dtype=np.uint8)
        for at in offsets:
            floats = (rng.normal(size=NUM_BLOCKS) * 0.01).astype(np.float16)
            blocks[:, at : at + 2] = floats.view(np.uint8).reshape(NUM_BLOCKS, 2)
        values = quants.dequantize(blocks.reshape(-1), dtype).astype(np.float32)
        reference[name] = {"bytes": encode(blocks), "values": encode(values)}
    return reference


def keys_of(group: type) -> Iterator[str]:
    """The keys of a class, and of the classes in it, with {arch} for the architecture."""
    for name, value in vars(group).items():
        if isinstance(value, type):
            yield from keys_of(value)
        elif isinstance(value, str) and not name.startswith("__"):
            yield value


def chat(smollm2: SmolLm2, question: str) -> dict:
    messages = [{"role": "user", "content": question}]
    ids = smollm2.ids_of(smollm2.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False))
    return {"question": question, "promptTokenIds": ids, "tokenIds": smollm2.continue_greedily(ids, NUM_CHAT_TOKENS)}


def bench_prompt(smollm2: SmolLm2, length: int, first: int) -> dict:
    sentences = [f"{sentence}." for sentence in DATA["passage"].rstrip(".").split(". ")]
    ids = smollm2.ids_of(" ".join(sentences[first:] + sentences[:first]))[:length]
    prompt = smollm2.tokenizer.decode(ids)
    if smollm2.ids_of(prompt) != ids:
        raise ValueError(f"The tokens of {prompt!r} differ when it stands alone.")
    entry = {"prompt": prompt, "numTokens": length}
    # The other prompts are only timed.
    if length > LENGTHS[0] or first >= 8:
        return entry
    answer = smollm2.continue_greedily(ids, NUM_BENCH_TOKENS, NUM_BENCH_TOKENS)
    return {**entry, "greedyTokenIds": answer, "greedyText": smollm2.tokenizer.decode(answer)}


smollm2 = SmolLm2()
write("gguf-blocks", random_blocks(), indent=2)
write("gguf-keys", sorted(set(keys_of(Keys))), indent=2)
chats = [chat(smollm2, question) for question in DATA["questions"]]
ids = smollm2.ids_of(DATA["text"])
value = {"file": FILE, "chats": chats, "text": DATA["text"], "textTokenIds": ids, "logLikelihood": -smollm2.loss(ids)}
write("gguf-smollm2", value, indent=1)
prompts = [bench_prompt(smollm2, length, first) for length in LENGTHS for first in range(NUM_PROMPTS)]
write("bench-smollm2", {"file": FILE, "prompts": prompts}, indent=1)
