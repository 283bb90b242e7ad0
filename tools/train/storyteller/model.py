"""Storyteller as its users see it: loaded from a folder in the hub's layout, it scores and continues texts."""

import json
import math
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.nn import functional as F
from transformers import GenerationConfig, GPT2Config, GPT2LMHeadModel

HERE = Path(__file__).parent
BUILD = HERE / "build"
PUBLISHED = HERE.parents[2] / "public" / "models" / "storyteller"
END_OF_TEXT = "<|endoftext|>"
PROMPTS = json.loads((HERE / "prompts.json").read_text("utf-8"))
GREEDY_TOKENS = 32
# Backends differ by about 1e-5 of a logit, and logits are about 10: none can flip a gap this wide.
MINIMUM_MARGIN = 0.02


def config() -> GPT2Config:
    """The published config.json states the architecture."""
    return GPT2Config.from_pretrained(PUBLISHED)


def load_model(folder: Path) -> GPT2LMHeadModel:
    """A folder's fp16 weights, computed with in fp32; architecture and defaults of sampling are the published ones."""
    model = GPT2LMHeadModel(config()).eval()
    model.transformer.load_state_dict(load_file(folder / "model.safetensors"))
    model.generation_config = GenerationConfig.from_pretrained(PUBLISHED)
    return model


def load_tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


@torch.no_grad()
def logits_of(model: GPT2LMHeadModel, ids: list[int]) -> torch.Tensor:
    """[len(ids), vocab]: each row follows the ids up to its own."""
    return model(torch.tensor([ids])).logits[0]


@torch.no_grad()
def greedy(model: GPT2LMHeadModel, ids: list[int], count: int) -> tuple[list[int], float]:
    """The `count` likeliest next ids, one by one, and the smallest gap between the best and second-best logit."""
    text, smallest, past, unseen = [], math.inf, None, list(ids)
    while len(text) < count:
        output = model(torch.tensor([unseen]), past_key_values=past, use_cache=True)
        past, best = output.past_key_values, output.logits[0, -1].topk(2)
        smallest = min(smallest, (best.values[0] - best.values[1]).item())
        unseen = [best.indices[0].item()]
        text += unseen
    return text, smallest


def sample(model: GPT2LMHeadModel, ids: list[int], count: int, seed: int) -> list[int]:
    """Up to `count` ids by the model's generation_config.json, without the end-of-text token."""
    torch.manual_seed(seed)
    prompt = torch.tensor([ids])
    text = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=count, pad_token_id=model.config.eos_token_id)[0].tolist()
    return [token for token in text[len(ids) :] if token != model.config.eos_token_id]


def held_out_stories() -> list[str]:
    return (BUILD / "held-out.txt").read_text("utf-8").splitlines()


@torch.no_grad()
def perplexity(model: GPT2LMHeadModel, tokenizer: Tokenizer, stories: list[str]) -> tuple[float, float]:
    """Perplexity per token and bits per byte of whole stories from position 0, end-of-text included.

    A story's first token has nothing before it to be predicted from, so neither it nor its bytes count.
    """
    encoded = [[*text.ids, model.config.eos_token_id] for text in tokenizer.encode_batch(stories)]
    nats = 0.0
    for first in range(0, len(encoded), 32):
        batch = [torch.tensor(ids) for ids in encoded[first : first + 32]]
        padded = torch.nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=-100)
        logits = model(padded.clamp(min=0)).logits[:, :-1]
        nats += F.cross_entropy(logits.flatten(0, 1), padded[:, 1:].flatten(), reduction="sum").item()
    size = sum(len(tokenizer.decode(ids[1:]).encode()) for ids in encoded)
    return math.exp(nats / sum(len(ids) - 1 for ids in encoded)), nats / math.log(2) / size
