"""What the package `gguf` decodes, and what `transformers` answers with SmolLM2-135M-Instruct: see README.md."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import Iterator

import numpy as np
import torch
from gguf import quants
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType, Keys
from support import read_json, write
from transformers import AutoModelForCausalLM, AutoTokenizer

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
END = 2

NUM_BLOCKS = 4
NUM_PROMPTS = 16
LENGTHS = (40, 200, 400)
NUM_CHAT_TOKENS, NUM_BENCH_TOKENS = 48, 64

# Byte offsets of the fp16 numbers of a block. Random bits there would make infinities.
FLOATS_AT = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}

DATA = read_json("gguf/texts.json")


class SmolLm2:
    """SmolLM2-135M-Instruct as a GGUF file, run by `transformers` in fp32."""

    def __init__(self) -> None:
        folder = Path(sys.argv[1]) / "models"
        self.tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=FILE)
        self.model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=FILE, dtype=torch.float32)

    def ids_of(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False).input_ids

    def continue_greedily(self, ids: list[int], num_tokens: int, fewest: int = 0) -> list[int]:
        prompt = torch.tensor([ids])
        options = {"do_sample": False, "max_new_tokens": num_tokens, "min_new_tokens": fewest, "pad_token_id": 0, "eos_token_id": END}
        return self.model.generate(prompt, attention_mask=torch.ones_like(prompt), **options)[0, len(ids) :].tolist()

    @torch.no_grad()
    def loss(self, ids: list[int]) -> float:
        """Of a token, as a negative log-likelihood."""
        tokens = torch.tensor([ids])
        return self.model(tokens, labels=tokens).loss.item()


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
