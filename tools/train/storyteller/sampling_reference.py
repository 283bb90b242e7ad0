"""Writes the reference for sampling options: logprobs, and greedy tokens under bias and penalties, as PyTorch has them.

The penalties are those of vLLM and the OpenAI API: bias; then the repetition penalty over prompt and output; then frequency
and presence penalty over the output. Tokens that end a text are impossible before its least length. Logprobs are those of the raw logits. A continuation whose margins are too small to
hold on every backend is left out; too few of them is an error, and so are penalties that change no text.
"""

import os

os.environ.update(OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2")

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch

from evaluate import PUBLISHED
from model import Gpt2
from storyteller import MINIMUM_MARGIN, PROMPTS, last_logits, load_model, load_tokenizer

FIXTURE = Path(__file__).parents[2] / "reference" / "fixtures" / "sampling-reference.json"
NUM_TOKENS = 12
NUM_LOGPROBS = 5
NUM_CONTINUATIONS = 4  # per set of penalties


@dataclass(frozen=True)
class Penalties:
    """The names are those of the page's own options."""

    repetitionPenalty: float = 1.0
    presencePenalty: float = 0.0
    frequencyPenalty: float = 0.0
    logitBias: dict[str, float] = field(default_factory=dict)
    minTokens: int = 0
    stopTokenIds: list[int] = field(default_factory=list)


PENALTIES = (
    Penalties(),
    Penalties(repetitionPenalty=1.3),
    Penalties(presencePenalty=2.0, frequencyPenalty=2.0),
    Penalties(repetitionPenalty=0.9, presencePenalty=-0.5, logitBias={"11": -100, "262": 1.5, "13": 0.75}),
    # The full stop, the comma and the commonest words, until the seventh token; then they are what they were.
    Penalties(minTokens=7, stopTokenIds=[13, 11, 257, 322, 289, 262, 276]),
)


def adjusted(
    logits: torch.Tensor, prompt: list[int], output: list[int], penalties: Penalties, end_of_text: int
) -> torch.Tensor:
    """Logits [vocab] after bias and penalties."""
    logits = logits.clone()
    for token, bias in penalties.logitBias.items():
        logits[int(token)] += bias
    seen = sorted({*prompt, *output})
    factor = penalties.repetitionPenalty
    logits[seen] = torch.where(logits[seen] > 0, logits[seen] / factor, logits[seen] * factor)
    for token in set(output):
        logits[token] -= penalties.frequencyPenalty * output.count(token) + penalties.presencePenalty
    if len(output) < penalties.minTokens:
        logits[[end_of_text, *penalties.stopTokenIds]] = -math.inf
    return logits


def logprobs(logits: torch.Tensor, token: int) -> dict:
    values = torch.log_softmax(logits, dim=-1)
    top = values.topk(NUM_LOGPROBS)
    entries = zip(top.indices.tolist(), top.values.tolist())
    return {
        "tokenId": token,
        "logprob": round(values[token].item(), 6),
        "top": [{"tokenId": index, "logprob": round(value, 6)} for index, value in entries],
    }


def continuation(model: Gpt2, prompt: str, ids: list[int], penalties: Penalties, end_of_text: int) -> dict:
    output, steps, margin = [], [], math.inf
    for _ in range(NUM_TOKENS):
        logits = last_logits(model, ids + output)
        best = adjusted(logits, ids, output, penalties, end_of_text).topk(2)
        if best.indices[0].item() in penalties.stopTokenIds:
            break
        margin = min(margin, (best.values[0] - best.values[1]).item())
        steps.append(logprobs(logits, best.indices[0].item()))
        output.append(best.indices[0].item())
    return {"prompt": prompt, "options": asdict(penalties), "tokenIds": output, "logprobs": steps, "margin": margin}


def main() -> None:
    model, tokenizer = load_model(PUBLISHED), load_tokenizer(PUBLISHED)
    continuations, plain = [], []
    for penalties in PENALTIES:
        candidates = [
            continuation(model, prompt, tokenizer.encode(prompt), penalties, tokenizer.end_of_text) for prompt in PROMPTS
        ]
        plain = plain or [entry["tokenIds"] for entry in candidates]
        clear = [
            entry
            for entry in candidates
            if entry["margin"] > MINIMUM_MARGIN and tokenizer.end_of_text not in entry["tokenIds"]
        ]
        # Texts that the penalties change come first.
        chosen = sorted(clear, key=lambda entry: entry["tokenIds"] in plain)[:NUM_CONTINUATIONS]
        if len(chosen) < NUM_CONTINUATIONS or (penalties != Penalties() and chosen[0]["tokenIds"] in plain):
            raise ValueError(f"Expected {NUM_CONTINUATIONS} clear continuations, some of them changed, with {penalties}: change it")
        continuations += chosen
    weights = (PUBLISHED / "model.safetensors").read_bytes()
    reference = {
        "weightsSha256": hashlib.sha256(weights).hexdigest(),
        "torch": torch.__version__,
        "continuations": continuations,
    }
    FIXTURE.write_text(json.dumps(reference, separators=(",", ":"), ensure_ascii=False) + "\n")
    print(f"{FIXTURE}: {len(continuations)} continuations")


if __name__ == "__main__":
    main()
