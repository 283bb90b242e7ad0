"""Trains Storyteller on build/tokens.npy and leaves the published files but the card in build/.

Muon for the blocks' matrices, which is reported to need fewer tokens than Adam, and tokens are what two CPU cores are short of; Adam for the rest.
"""

import argparse
import json
import time

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import RandomSampler
from transformers import GPT2LMHeadModel

from model import BUILD, GREEDY_TOKENS, MINIMUM_MARGIN, PROMPTS, config, greedy, load_tokenizer

SHORT, LONG = 256, 512
LONG_STAGE = 0.15  # share of the run, at its end, in which windows have the full length
WARM_UP = 0.02
MUON_RATE, ADAM_RATE, SETTLE_RATE = 8e-3, 3e-3, 1e-4
SETTLE_BATCH, SETTLE_STEPS, SETTLE_CHECKS = 4, 3, 200


def tile_windows(tokens: np.ndarray, end_of_text: int, length: int) -> np.ndarray:
    """First tokens of windows that begin with a story, as prompts do, and together cover the corpus about once."""
    windows, earliest = [], 0
    for start in [0, *np.flatnonzero(tokens == end_of_text) + 1]:
        if earliest <= start <= len(tokens) - length:
            windows.append(start)
            earliest = start + length
    return np.array(windows)


def batches(tokens: np.ndarray, end_of_text: int, length: int, size: int, steps: int):
    """[size, length] windows in random order, none of them again before all others were seen."""
    windows = tile_windows(tokens, end_of_text, length)
    order = np.array(list(RandomSampler(windows, num_samples=size * steps))).reshape(steps, size)
    for chosen in order:
        yield torch.from_numpy(tokens[windows[chosen][:, None] + np.arange(length)].astype(np.int64))


def positions(batch: torch.Tensor) -> torch.Tensor:
    """Half of the short windows stand at 0, as prompts do, and half anywhere, so that all positions are learnt."""
    size, length = batch.shape
    first = torch.randint(0, LONG - length + 1, (size, 1))
    first[: size // 2] = 0
    return first + torch.arange(length)


def loss_of(model: GPT2LMHeadModel, batch: torch.Tensor, position_ids: torch.Tensor | None = None) -> torch.Tensor:
    logits = model(batch, position_ids=position_ids).logits[:, :-1]
    return nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def train(model: GPT2LMHeadModel, tokens: np.ndarray, steps: int, tokens_per_step: int) -> None:
    matrices = [p for p in model.transformer.h.parameters() if p.ndim == 2]
    others = [p for p in model.parameters() if all(p is not matrix for matrix in matrices)]
    optimizers = [
        torch.optim.Muon(matrices, lr=MUON_RATE, weight_decay=0.1, momentum=0.95, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, lr=ADAM_RATE, betas=(0.9, 0.98), weight_decay=0),
    ]
    schedulers = [
        OneCycleLR(optimizer, optimizer.param_groups[0]["lr"], total_steps=steps + 1, pct_start=WARM_UP, cycle_momentum=False)
        for optimizer in optimizers
    ]
    long_steps = round(LONG_STAGE * steps)
    began, smooth, step = time.monotonic(), None, 0
    for length, count in ((SHORT, steps - long_steps), (LONG, long_steps)):
        for batch in batches(tokens, model.config.eos_token_id, length, tokens_per_step // length, count):
            loss = loss_of(model, batch, positions(batch))
            loss.backward()
            for optimizer, scheduler in zip(optimizers, schedulers):
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            step += 1
            smooth = loss.item() if smooth is None else 0.98 * smooth + 0.02 * loss.item()
            if step % 20 == 0:
                speed = step * tokens_per_step / (time.monotonic() - began)
                print(f"step {step} of {steps}: loss {smooth:.3f}, {speed:.0f} tokens/s", flush=True)


def as_published(model: GPT2LMHeadModel) -> GPT2LMHeadModel:
    """Its weights rounded to fp16, as in the published file."""
    rounded = GPT2LMHeadModel(model.config).eval()
    rounded.load_state_dict({name: tensor.half().float() for name, tensor in model.state_dict().items()})
    return rounded


def settle(model: GPT2LMHeadModel, tokens: np.ndarray, prompts: list[list[int]]) -> int:
    """Trains on, a few small steps at a time, until no greedy choice of the prompts is a close call that rounding could decide. Returns the steps."""
    adam = torch.optim.AdamW(model.parameters(), lr=SETTLE_RATE, betas=(0.9, 0.98), weight_decay=0)
    stream = batches(tokens, model.config.eos_token_id, LONG, SETTLE_BATCH, SETTLE_CHECKS * SETTLE_STEPS)
    for check in range(SETTLE_CHECKS):
        published = as_published(model)
        close = next((ids for ids in prompts if greedy(published, ids, GREEDY_TOKENS)[1] < 1.1 * MINIMUM_MARGIN), None)
        if close is None:
            return check * SETTLE_STEPS
        # The prompt that was close is asked first next time, which ends most checks early.
        prompts = [close, *(ids for ids in prompts if ids is not close)]
        for _ in range(SETTLE_STEPS):
            batch = next(stream)
            loss_of(model, batch).backward()
            adam.step()
            adam.zero_grad()
    raise SystemExit(f"no clear margins after {SETTLE_CHECKS} checks: train another seed")


def save_weights(model: nn.Module, path) -> None:
    """fp16 under the names of openai-community/gpt2, whose head is the token embedding."""
    tensors = {name: tensor.half().contiguous() for name, tensor in model.transformer.state_dict().items()}
    save_file(tensors, path, metadata={"format": "pt"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2_200)
    parser.add_argument("--tokens-per-step", type=int, default=4_096)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    tokens = np.load(BUILD / "tokens.npy")
    tokenizer = load_tokenizer(BUILD)
    model = GPT2LMHeadModel(config())
    began = time.monotonic()
    train(model, tokens, options.steps, options.tokens_per_step)
    settled = settle(model, tokens, [tokenizer.encode(prompt).ids for prompt in PROMPTS])
    save_weights(model, BUILD / "model.safetensors")
    seen = options.steps * options.tokens_per_step + settled * SETTLE_BATCH * LONG
    run = {"steps": options.steps + settled, "tokens": seen, "minutes": (time.monotonic() - began) / 60, "seed": options.seed}
    (BUILD / "run.json").write_text(json.dumps(run))


if __name__ == "__main__":
    main()
