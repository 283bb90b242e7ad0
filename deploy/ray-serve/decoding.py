"""Static batches with a causal language model of `transformers`: gathered once, run until the last member ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterator, Sequence

import torch

from completion_request import Chunk, Sampling, TokenLogprobs
from stop_strings import StopMatcher


@dataclass(frozen=True)
class Job:
    prompt_ids: tuple[int, ...]
    sampling: Sampling


class _Row:
    """One member of a batch: takes tokens and returns the text that can be shown."""

    def __init__(self, job: Job, decode: Callable[[Sequence[int]], str], device: torch.device) -> None:
        self.job = job
        self.output_ids: list[int] = []
        self.is_finished = False
        self._decode = decode
        self._shown = ""
        self._stops = StopMatcher(job.sampling.stop)
        self._generator = torch.Generator(device=device)
        self._generator.manual_seed(job.sampling.seed)

    def step(self, logits: torch.Tensor, eos_ids: frozenset[int], max_length: int) -> Chunk:
        sampling = self.job.sampling
        token_id = sample(logits, self.job.prompt_ids, self.output_ids, sampling, self._generator)
        if token_id in eos_ids:
            return self._finish("", (), (), "stop")
        self.output_ids.append(token_id)
        logprobs = () if sampling.logprobs is None else (logprobs_of(logits, token_id, sampling.logprobs),)
        text = self._stops.push(self._new_text())
        if self._stops.is_stopped:
            return self._finish(text, (token_id,), logprobs, "stop")
        length = len(self.job.prompt_ids) + len(self.output_ids)
        if len(self.output_ids) >= sampling.max_tokens or length >= max_length:
            return self._finish(text, (token_id,), logprobs, "length")
        return Chunk(text, (token_id,), logprobs)

    def _finish(self, text: str, ids: tuple[int, ...], logprobs: tuple[TokenLogprobs, ...], reason: str) -> Chunk:
        self.is_finished = True
        rest = "" if self._stops.is_stopped else self._stops.push(self._new_text(is_last=True)) + self._stops.end()
        ended_in_stop = self._stops.is_stopped
        return Chunk(text + rest, ids, logprobs, "stop" if ended_in_stop else reason, len(self.job.prompt_ids))

    def _new_text(self, is_last: bool = False) -> str:
        """Whole characters only: one that is incomplete decodes to a replacement character."""
        text = self._decode(self.output_ids)
        if text.endswith("\ufffd") and not is_last:
            return ""
        new = text[len(self._shown) :]
        self._shown = text
        return new


@torch.inference_mode()
def decode_batch(
    model: Any,
    jobs: Sequence[Job],
    *,
    decode: Callable[[Sequence[int]], str],
    eos_ids: frozenset[int],
    max_length: int,
    pad_id: int = 0,
) -> Iterator[list[Chunk | None]]:
    """One list per forward pass, with an entry per job: its chunk, or None once it has ended.

    `model` is called as `transformers` calls its causal models. Prompts are padded on the left, so that every row's next
    token is in the last column.
    """
    device = torch.device(getattr(model, "device", "cpu"))
    rows = [_Row(job, decode, device) for job in jobs]
    longest = max(len(job.prompt_ids) for job in jobs)
    padding = [longest - len(job.prompt_ids) for job in jobs]
    ids = torch.tensor([[pad_id] * n + list(job.prompt_ids) for n, job in zip(padding, jobs)], device=device)
    mask = torch.tensor([[0] * n + [1] * (longest - n) for n in padding], device=device)
    past: Any = None
    while not all(row.is_finished for row in rows):
        # Positions of ended rows stop at the model's last one.
        positions = (mask.cumsum(dim=1) - 1).clamp(min=0, max=max_length - 1)[:, -ids.shape[1] :]
        output = model(
            input_ids=ids, attention_mask=mask, position_ids=positions, past_key_values=past, use_cache=True
        )
        past = output.past_key_values
        logits = output.logits[:, -1].float()
        chunks = [
            None if row.is_finished else row.step(logits[i], eos_ids, max_length) for i, row in enumerate(rows)
        ]
        yield chunks
        # An ended row runs on with its batch. Its output is ignored.
        ids = torch.tensor([[row.output_ids[-1] if row.output_ids else pad_id] for row in rows], device=device)
        mask = torch.cat([mask, mask.new_ones(len(rows), 1)], dim=1)


def sample(
    logits: torch.Tensor,
    prompt_ids: Sequence[int],
    output_ids: Sequence[int],
    sampling: Sampling,
    generator: torch.Generator,
) -> int:
    """The next token, in vLLM's order: bias, penalties, temperature, min-p, top-k, top-p. `logits` has one entry per token."""
    logits = logits.clone()
    for token_id, bias in sampling.logit_bias.items():
        logits[token_id] += bias
    _penalise(logits, prompt_ids, output_ids, sampling)
    if sampling.temperature == 0:
        return int(logits.argmax())
    probabilities = torch.softmax(logits / sampling.temperature, dim=-1)
    probabilities[probabilities < sampling.min_p * probabilities.max()] = 0
    ordered, order = probabilities.sort(descending=True, stable=True)
    if sampling.top_k > 0:
        ordered[sampling.top_k :] = 0
    ordered /= ordered.sum()
    if sampling.top_p < 1:
        # Keep tokens up to and including the one that reaches p.
        ordered[ordered.cumsum(dim=0) - ordered >= sampling.top_p] = 0
    return int(order[torch.multinomial(ordered, 1, generator=generator)])


def _penalise(
    logits: torch.Tensor, prompt_ids: Sequence[int], output_ids: Sequence[int], sampling: Sampling
) -> None:
    if sampling.repetition_penalty != 1:
        seen = torch.tensor(sorted({*prompt_ids, *output_ids}), device=logits.device)
        penalty = sampling.repetition_penalty
        logits[seen] = torch.where(logits[seen] > 0, logits[seen] / penalty, logits[seen] * penalty)
    for token_id in set(output_ids):
        count = output_ids.count(token_id)
        logits[token_id] -= sampling.frequency_penalty * count + sampling.presence_penalty


def logprobs_of(logits: torch.Tensor, token_id: int, num_top: int) -> TokenLogprobs:
    """Log probabilities of the model itself: before bias, penalties and temperature."""
    logprobs = torch.log_softmax(logits, dim=-1)
    values, ids = logprobs.topk(num_top) if num_top > 0 else (logprobs[:0], logprobs[:0].long())
    top = tuple((int(i), float(value)) for i, value in zip(ids, values))
    return TokenLogprobs(token_id, float(logprobs[token_id]), top)
