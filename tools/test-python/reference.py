"""Prompt logprobs of the page's model from PyTorch in float64, as JSON: what the clients' answers are compared with.

`reference.py MODEL_FOLDER TEXT…`
"""

from __future__ import annotations

import json
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

NUM_TOP = 5


def main() -> None:
    folder, *texts = sys.argv[1:]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).eval()
    print(json.dumps([entry(model, tokenizer, text) for text in texts]))


@torch.inference_mode()
def entry(model: torch.nn.Module, tokenizer, text: str) -> dict:
    """`logprobs[i]` is the logprob of token i, given the tokens before it. The first token has none."""
    ids = tokenizer(text)["input_ids"]
    logprobs = torch.log_softmax(model(torch.tensor([ids])).logits[0], dim=-1)
    top = logprobs[:-1].topk(NUM_TOP)
    return {
        "text": text,
        "tokenIds": ids,
        "tokens": [tokenizer.decode([token_id]) for token_id in ids],
        "logprobs": [None, *(float(logprobs[i, token_id]) for i, token_id in enumerate(ids[1:]))],
        "topLogprobs": [None, *values(top)],
        "topIds": [None, *top.indices.tolist()],
    }


def values(top) -> list[list[float]]:
    return top.values.tolist()


if __name__ == "__main__":
    main()
