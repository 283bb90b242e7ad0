"""The text generator with `transformers` inside, batched by `@serve.batch`: Tabserve's policy `static`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, AsyncGenerator

from ray import serve

from completion_request import Chunk, InvalidRequest, Prompt, Sampling
from decoding import Job, decode_batch


@serve.deployment
class TransformersGenerator:
    def __init__(self, model: str, revision: str | None = None, device: str = "auto") -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        on_gpu = torch.cuda.is_available() if device == "auto" else device != "cpu"
        # A folder goes by its name, as the page's own model does.
        self._id = Path(model).name if Path(model).is_dir() else model
        self._tokenizer = AutoTokenizer.from_pretrained(model, revision=revision)
        # A CPU computes float16 slowly, and greedy texts would differ from the page's, which runs float32 there.
        dtype = "auto" if on_gpu else torch.float32
        self._model = AutoModelForCausalLM.from_pretrained(model, revision=revision, dtype=dtype).eval()
        self._model.to("cuda" if on_gpu else "cpu")
        self._max_length = int(self._model.config.max_position_embeddings)
        self._eos_ids = _eos_ids(self._model.generation_config.eos_token_id)

    def reconfigure(self, user_config: dict[str, Any]) -> None:
        """Changes the knobs of a running replica. A running batch keeps its own."""
        self._decode.set_max_batch_size(user_config["max_batch_size"])
        self._decode.set_batch_wait_timeout_s(user_config["batch_wait_timeout_s"])

    async def describe(self) -> dict[str, Any]:
        return {"id": self._id, "max_model_len": self._max_length}

    async def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[Chunk, None]:
        job = Job(self._tokenize(prompt), sampling)
        async for chunk in self._decode(job):
            yield chunk

    @serve.batch(max_batch_size=8, batch_wait_timeout_s=0.0)
    async def _decode(self, jobs: list[Job]) -> AsyncGenerator[list[Chunk | type[StopIteration]], None]:
        steps = decode_batch(
            self._model,
            jobs,
            decode=lambda ids: self._tokenizer.decode(ids, skip_special_tokens=True),
            eos_ids=self._eos_ids,
            max_length=self._max_length,
        )
        # Run off the event loop, so that requests can join and leave the queue during a forward pass.
        while chunks := await asyncio.to_thread(next, steps, None):
            # Tells Ray that a caller's answer is complete.
            yield [StopIteration if chunk is None else chunk for chunk in chunks]

    def _tokenize(self, prompt: Prompt) -> tuple[int, ...]:
        ids = self._tokenizer(prompt)["input_ids"] if isinstance(prompt, str) else prompt
        if not ids:
            raise InvalidRequest("prompt", "The prompt is empty: write at least one character to continue.")
        if len(ids) >= self._max_length:
            limit = f"the model's context holds {self._max_length}, of which one is for the continuation"
            raise InvalidRequest("prompt", f"The prompt has {len(ids)} tokens, but {limit}: shorten it.")
        foreign = [token_id for token_id in ids if token_id >= self._model.config.vocab_size]
        if foreign:
            raise InvalidRequest.of("prompt", f"ids of the model's {self._model.config.vocab_size} tokens", foreign[0])
        return tuple(ids)


def _eos_ids(given: int | list[int] | None) -> frozenset[int]:
    if given is None:
        return frozenset()
    return frozenset([given] if isinstance(given, int) else given)
