"""Trains Storyteller on the encoded corpus in build/ and leaves build/checkpoint.pt.

Two processes of one thread each, not one process of two threads: most of GPT-2's operations at this size are too small
to be worth splitting, so whole replicas that add up their gradients see 2.5 times as many tokens per second.
"""

import argparse
import json
import math
import os
import time
from pathlib import Path

# A step allocates and frees hundreds of megabytes; without this glibc hands them back to the kernel each time and a
# third of the run goes into page faults. It has to be in the environment before the workers start.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(1 << 32), "MALLOC_TRIM_THRESHOLD_": str(1 << 34)}
os.environ.update(ALLOCATOR, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
import torch
import torch.multiprocessing as mp
from torch.nn import functional as F

from model import Gpt2, Gpt2Config
from optimizer import Optimizer

BUILD = Path(__file__).parent / "build"
SHORT, LONG = 256, 512
LONG_STAGE = 0.85  # share of the run after which windows have the full length
WARM_UP = 0.02
SAVE_EVERY = 2  # minutes


def tile_windows(starts: np.ndarray, length: int, total: int) -> np.ndarray:
    """First tokens of windows that begin with a story and together cover the corpus about once."""
    windows = []
    earliest = 0
    for start in starts:
        if start >= earliest and start + length + 1 <= total:
            windows.append(start)
            earliest = start + length
    return np.array(windows)


def load_corpus() -> tuple[np.ndarray, np.ndarray]:
    """All training tokens, and the index of each story's first."""
    return np.load(BUILD / "train-tokens.npy"), np.load(BUILD / "train-starts.npy")


class Windows:
    """Endless [batch, length + 1] windows of the corpus; every worker draws the same order and keeps its own share."""

    def __init__(self, tokens: np.ndarray, starts: np.ndarray, length: int, seed: int):
        self.tokens = tokens
        self.length = length
        self.windows = tile_windows(starts, length, len(tokens))
        self.generator = np.random.default_rng(seed)
        self.order = np.empty(0, dtype=np.int64)

    def next(self, batch: int, rank: int, world: int) -> torch.Tensor:
        while len(self.order) < batch * world:
            self.order = np.concatenate([self.order, self.generator.permutation(self.windows)])
        mine = self.order[rank * batch : (rank + 1) * batch]
        self.order = self.order[batch * world :]
        return torch.from_numpy(np.stack([self.tokens[s : s + self.length + 1] for s in mine]).astype(np.int64))


def learning_rate_factor(progress: float) -> float:
    """Linear warm-up, then a cosine to zero; progress in [0, 1]."""
    if progress < WARM_UP:
        return max(progress, 1e-3) / WARM_UP
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (progress - WARM_UP) / (1 - WARM_UP))))


def first_positions(batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
    """Half of the short windows start at 0 (as prompts do), half anywhere, so that all positions are learnt."""
    positions = torch.randint(0, LONG - SHORT + 1, (batch,), generator=generator)
    positions[: batch // 2] = 0
    return positions if length == SHORT else torch.zeros(batch, dtype=torch.long)


class Exchange:
    """Averages gradients over the workers and gives all of them the first worker's progress.

    Both are double-buffered by step: a fast worker may write step n + 1 while a slow one still reads step n, and cannot
    reach n + 2 before the slow one has arrived at n + 1.
    """

    def __init__(self, workers: int, parameters: int):
        self.gradients = torch.zeros(2, workers, parameters).share_memory_()
        self.progress = torch.zeros(2, dtype=torch.float64).share_memory_()
        self.barrier = mp.get_context("spawn").Barrier(workers)

    def average(self, parameters: list[torch.nn.Parameter], rank: int, step: int, progress: float) -> float:
        """Leaves the mean gradient in every parameter; returns the progress that all workers agree on."""
        gradients = self.gradients[step % 2]
        torch.cat([p.grad.view(-1) for p in parameters], out=gradients[rank])
        if rank == 0:
            self.progress[step % 2] = progress
        self.barrier.wait()
        mean = gradients.mean(0).split([p.numel() for p in parameters])
        for parameter, gradient in zip(parameters, mean):
            parameter.grad = gradient.view_as(parameter)
        return self.progress[step % 2].item()


class Run:
    """Where a run stands."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.began = time.monotonic()
        self.step = 0

    @property
    def minutes(self) -> float:
        return (time.monotonic() - self.began) / 60

    @property
    def progress(self) -> float:
        """Share of the schedule that is over with the current step, by the clock or by steps."""
        budget = self.options.minutes
        return self.minutes / budget if budget else (self.step + 1) / self.options.steps

    def summary(self) -> dict:
        tokens = self.step * self.options.tokens_per_step
        return {"steps": self.step, "tokens": tokens, "minutes": self.minutes, "seed": self.options.seed}


def work(rank: int, options: argparse.Namespace, exchange: Exchange) -> None:
    """One replica; all of them start alike, see different windows and make the same updates."""
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    model = Gpt2(Gpt2Config())
    parameters = list(model.parameters())
    optimizer = Optimizer(model)
    tokens, starts = load_corpus()
    streams = {length: Windows(tokens, starts, length, options.seed + length) for length in (SHORT, LONG)}
    generator = torch.Generator().manual_seed(options.seed * 1000 + rank)
    run = Run(options)
    progress, saved, smooth = 0.0, 0.0, None
    while progress < 1:
        length = SHORT if progress < LONG_STAGE else LONG
        batch = options.tokens_per_step // (length * options.workers)
        window = streams[length].next(batch, rank, options.workers)
        logits = model(window[:, :-1], first_positions(batch, length, generator))
        loss = F.cross_entropy(logits, window[:, 1:].reshape(-1))
        loss.backward()
        progress = exchange.average(parameters, rank, run.step, run.progress)
        optimizer.step(learning_rate_factor(progress))
        model.zero_grad(set_to_none=True)

        run.step += 1
        smooth = loss.item() if smooth is None else 0.98 * smooth + 0.02 * loss.item()
        if rank == 0 and run.step % 20 == 0:
            speed = run.step * options.tokens_per_step / run.minutes / 60
            print(f"step {run.step} {progress:.1%} loss {smooth:.3f} {speed:.0f} tokens/s", flush=True)
        if rank == 0 and (run.minutes - saved > SAVE_EVERY or progress >= 1):
            save(model, run.summary())
            saved = run.minutes


def save(model: Gpt2, run: dict) -> None:
    """Replaces the checkpoint in one step, so an interrupted run always leaves a whole one to export."""
    temporary = BUILD / "checkpoint.tmp"
    torch.save({"model": model.state_dict(), "run": run}, temporary)
    temporary.replace(BUILD / "checkpoint.pt")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--steps", type=int, default=6000, help="optimizer steps (reproducible)")
    budget.add_argument("--minutes", type=float, help="wall-clock budget instead: the learning rate follows the clock")
    parser.add_argument("--tokens-per-step", type=int, default=4096)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(json.dumps(vars(options)), flush=True)

    parameters = sum(p.numel() for p in Gpt2(Gpt2Config()).parameters())
    exchange = Exchange(options.workers, parameters)
    mp.spawn(work, (options, exchange), nprocs=options.workers)


if __name__ == "__main__":
    main()
