"""Writes the reference for prompt logprobs: how likely PyTorch finds each token of a prompt, computed in fp64."""

import hashlib
import json
from itertools import cycle, islice
from pathlib import Path

import torch

from evaluate import PUBLISHED
from model import Gpt2
from storyteller import PROMPTS, load_model, load_tokenizer

FIXTURE = Path(__file__).parents[2] / "reference" / "fixtures" / "prompt-logprobs-reference.json"
NUM_LOGPROBS = 5
DIGITS = 6
# Logprobs of tokens closer than this may change places on a backend that rounds.
SMALLEST_GAP = 1e-3


@torch.no_grad()
def score(model: Gpt2, ids: list[int]) -> list[dict]:
    """One entry per token; nothing precedes the first one."""
    logprobs = torch.log_softmax(model(torch.tensor([ids])).view(len(ids), -1), dim=-1)
    entries = [{"tokenId": ids[0], "logprob": None, "top": []}]
    for place, token in enumerate(ids[1:]):
        top = logprobs[place].topk(NUM_LOGPROBS)
        entries.append(
            {
                "tokenId": token,
                "logprob": round(logprobs[place, token].item(), DIGITS),
                "top": [
                    {"tokenId": index, "logprob": round(value, DIGITS)}
                    for index, value in zip(top.indices.tolist(), top.values.tolist())
                ],
            }
        )
    return entries


def smallest_gap(model: Gpt2, ids: list[int]) -> float:
    """Between neighbors among the likeliest and the first that is not among them."""
    with torch.no_grad():
        values = torch.log_softmax(model(torch.tensor([ids])).view(len(ids), -1), dim=-1).topk(NUM_LOGPROBS + 1).values
    return (values[:-1, :-1] - values[:-1, 1:]).min().item()


def main() -> None:
    model, tokenizer = load_model(PUBLISHED).double(), load_tokenizer(PUBLISHED)
    prompts = [(prompt, tokenizer.encode(prompt)) for prompt in PROMPTS]
    # A prompt that fills the context: all of them, again and again.
    length = model.config.n_positions
    whole = list(islice(cycle(token for _, ids in prompts for token in ids), length))
    reference = {
        "weightsSha256": hashlib.sha256((PUBLISHED / "model.safetensors").read_bytes()).hexdigest(),
        "torch": torch.__version__,
        "prompts": [
            {"prompt": prompt, "logprobs": score(model, ids), "isOrderClear": smallest_gap(model, ids) > SMALLEST_GAP}
            for prompt, ids in prompts
        ],
        "wholeContext": {"tokenIds": whole, "logprobs": [entry["logprob"] for entry in score(model, whole)]},
    }
    FIXTURE.write_text(json.dumps(reference, separators=(",", ":"), ensure_ascii=False) + "\n")
    print(f"{FIXTURE}: {len(prompts)} prompts and one of {length} tokens")


if __name__ == "__main__":
    main()
