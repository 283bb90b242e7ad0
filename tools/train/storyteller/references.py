"""Writes four fixtures: what huggingface/transformers computes for the published model in fp64.

A backend's rounding must not be able to excuse another token: no greedy step may have a close call.
"""

import hashlib
import json
import math
import sys
from itertools import cycle, islice
from typing import Any

import torch

from model import GREEDY_TOKENS, HERE, MINIMUM_MARGIN, PROMPTS, PUBLISHED, greedy, load_model, load_tokenizer, logits_of

sys.path.insert(0, str(HERE.parent))

from export import FIXTURES, as_json, publish  # noqa: E402

CASES = json.loads((HERE / "references.json").read_text("utf-8"))
MODEL, TOKENIZER = load_model(PUBLISHED).double(), load_tokenizer(PUBLISHED)
END = MODEL.config.eos_token_id
WEIGHTS = (PUBLISHED / "model.safetensors").read_bytes()
HEAD = {"weightsSha256": hashlib.sha256(WEIGHTS).hexdigest(), "torch": torch.__version__}
# Every contender of a bench generates as many tokens, so no text may end early.
NUM_BENCH_PROMPTS, NUM_BENCH_TOKENS = 8, 64
NUM_PENALIZED_TOKENS, NUM_CONTINUATIONS = 12, 4
NUM_LOGPROBS = 5
# Logprobs of tokens closer than this may change places on a backend that rounds.
SMALLEST_GAP = 1e-3


def encode(text: str) -> list[int]:
    return TOKENIZER.encode(text).ids


def greedy_entry(prompt: str, count: int) -> dict[str, Any]:
    ids = encode(prompt)
    tokens, margin = greedy(MODEL, ids, count)
    if margin <= MINIMUM_MARGIN:
        raise ValueError(f"Expected a greedy margin above {MINIMUM_MARGIN}, got {margin:.4f} for {prompt!r}: choose another prompt, or train on")
    return {"prompt": prompt, "promptTokenIds": ids, "greedyTokenIds": tokens, "greedyText": TOKENIZER.decode(tokens), "minGreedyMargin": margin}


def logits_entry(prompt: str) -> dict[str, Any]:
    logits = logits_of(MODEL, encode(prompt))[-1]
    top = logits.topk(20)
    values = {"ids": top.indices.tolist(), "logits": top.values.tolist()}
    return {"top20": values, "logitsL2": logits.norm().item(), "logitsMean": logits.mean().item(), **greedy_entry(prompt, GREEDY_TOKENS)}


def bench_entries(prompts: list[str]) -> list[dict[str, Any]]:
    entries = [greedy_entry(prompt, NUM_BENCH_TOKENS) for prompt in prompts]
    running = [entry for entry in entries if END not in entry["greedyTokenIds"]]
    if len(running) != NUM_BENCH_PROMPTS:
        raise ValueError(f"Expected {NUM_BENCH_PROMPTS} prompts whose text runs on, got {len(running)}: change references.json")
    return running


def token_logprob(logprobs: torch.Tensor, token: int) -> dict[str, Any]:
    top = logprobs.topk(NUM_LOGPROBS)
    entries = [{"tokenId": index, "logprob": round(value, 6)} for index, value in zip(top.indices.tolist(), top.values.tolist())]
    return {"tokenId": token, "logprob": round(logprobs[token].item(), 6), "top": entries}


def prompt_logprobs(ids: list[int]) -> tuple[list[dict[str, Any]], float]:
    """An entry per token, the first of which nothing precedes; and the smallest gap among the likeliest tokens and the first that isn't among them."""
    logprobs = torch.log_softmax(logits_of(MODEL, ids), dim=-1)
    top = logprobs.topk(NUM_LOGPROBS + 1).values
    entries = [token_logprob(row, token) for row, token in zip(logprobs, ids[1:])]
    return [{"tokenId": ids[0], "logprob": None, "top": []}, *entries], (top[:-1, :-1] - top[:-1, 1:]).min().item()


def penalized(logits: torch.Tensor, prompt: list[int], output: list[int], options: dict[str, Any]) -> torch.Tensor:
    """As vLLM and the OpenAI API have it: bias; the repetition penalty over prompt and output; the others over the output."""
    logits = logits.clone()
    for token, bias in options["logitBias"].items():
        logits[int(token)] += bias
    seen, factor = sorted({*prompt, *output}), options["repetitionPenalty"]
    logits[seen] = torch.where(logits[seen] > 0, logits[seen] / factor, logits[seen] * factor)
    for token in set(output):
        logits[token] -= options["frequencyPenalty"] * output.count(token) + options["presencePenalty"]
    if len(output) < options["minTokens"]:
        logits[[END, *options["stopTokenIds"]]] = -math.inf
    return logits


def continuation(prompt: str, options: dict[str, Any]) -> dict[str, Any]:
    """Greedy under the options; logprobs are those of the raw logits."""
    ids, output, steps, margin = encode(prompt), [], [], math.inf
    for _ in range(NUM_PENALIZED_TOKENS):
        logits = logits_of(MODEL, ids + output)[-1]
        best = penalized(logits, ids, output, options).topk(2)
        token = best.indices[0].item()
        if token in options["stopTokenIds"]:
            break
        margin = min(margin, (best.values[0] - best.values[1]).item())
        steps.append(token_logprob(torch.log_softmax(logits, dim=-1), token))
        output.append(token)
    return {"prompt": prompt, "options": options, "tokenIds": output, "logprobs": steps, "margin": margin}


def continuations() -> list[dict[str, Any]]:
    """Some without a close call for each set of penalties, first those that the penalties change."""
    plain, chosen = [], []
    none = {"repetitionPenalty": 1.0, "presencePenalty": 0.0, "frequencyPenalty": 0.0, "logitBias": {}, "minTokens": 0, "stopTokenIds": []}
    for penalties in CASES["penalties"]:
        entries = [continuation(prompt, none | penalties) for prompt in PROMPTS]
        plain = plain or [entry["tokenIds"] for entry in entries]
        clear = [entry for entry in entries if entry["margin"] > MINIMUM_MARGIN and END not in entry["tokenIds"]]
        clear.sort(key=lambda entry: entry["tokenIds"] in plain)
        if len(clear) < NUM_CONTINUATIONS or (penalties and clear[0]["tokenIds"] in plain):
            raise ValueError(f"Expected {NUM_CONTINUATIONS} clear continuations, some of them changed, with {penalties}: change references.json")
        chosen += clear[:NUM_CONTINUATIONS]
    return chosen


def main() -> None:
    prompts = [logits_entry(prompt) for prompt in PROMPTS]
    scored = [(prompt, *prompt_logprobs(encode(prompt))) for prompt in PROMPTS]
    # All prompts, again and again, until they fill the context.
    whole = list(islice(cycle(token for prompt in PROMPTS for token in encode(prompt)), MODEL.config.n_positions))
    fixtures = {
        "storyteller": {"model": "storyteller", **HEAD, "prompts": prompts, "longPrompt": logits_entry(CASES["longPrompt"])},
        "bench-peers": {"model": "storyteller", **HEAD, "prompts": bench_entries([*PROMPTS, *CASES["moreBenchPrompts"]])},
        "prompt-logprobs": {
            **HEAD,
            "prompts": [{"prompt": prompt, "logprobs": logprobs, "isOrderClear": gap > SMALLEST_GAP} for prompt, logprobs, gap in scored],
            "wholeContext": {"tokenIds": whole, "logprobs": [entry["logprob"] for entry in prompt_logprobs(whole)[0]]},
        },
        "sampling": {**HEAD, "continuations": continuations()},
    }
    publish({FIXTURES / f"{name}-reference.json": as_json(fixture) for name, fixture in fixtures.items()})


if __name__ == "__main__":
    main()
