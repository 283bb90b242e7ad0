"""The events of a completion, in the format of OpenAI's API with vLLM's additions."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from dataclasses import dataclass, field
from typing import Any, AsyncGenerator, AsyncIterator, Callable, Sequence

from completion_request import Chunk, CompletionRequest, Prompt, Sampling, TokenLogprobs

Generate = Callable[[Prompt, Sampling], AsyncIterator[Chunk]]


@dataclass
class _Choice:
    text: str = ""
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[TokenLogprobs] = field(default_factory=list)
    finish_reason: str | None = None
    num_prompt_tokens: int = 0


class Completion:
    """All continuations of one request, generated side by side."""

    def __init__(self, request: CompletionRequest, model: str, generate: Generate) -> None:
        self._request = request
        self._generate = generate
        self._head = {
            "id": f"cmpl-{uuid.uuid4().hex}",
            "object": "text_completion",
            "created": int(time.time()),
            "model": model,
        }
        self._choices = [_Choice() for _ in request.prompts for _ in range(request.n)]

    async def chunks(self) -> AsyncGenerator[tuple[int, Chunk], None]:
        """Yields each chunk with the index of its choice as it comes. Closing it ends the running choices."""
        request = self._request
        queue: asyncio.Queue[tuple[int, Chunk] | BaseException | None] = asyncio.Queue()

        async def run(index: int) -> None:
            prompt = request.prompts[index // request.n]
            try:
                async for chunk in self._generate(prompt, request.sampling_of(index % request.n)):
                    queue.put_nowait((index, chunk))
                queue.put_nowait(None)
            except Exception as error:
                queue.put_nowait(error)

        tasks = [asyncio.create_task(run(index)) for index in range(len(self._choices))]
        try:
            num_live = len(tasks)
            while num_live > 0:
                item = await queue.get()
                if isinstance(item, BaseException):
                    raise item
                if item is None:
                    num_live -= 1
                else:
                    self._add(*item)
                    yield item
        finally:
            for task in tasks:
                task.cancel()

    async def events(self) -> AsyncGenerator[str, None]:
        """Server-sent events, including the last one that OpenAI's clients wait for."""
        if self._request.echo:
            for index, _ in enumerate(self._choices):
                yield self._event([self._choice_of(index, Chunk(self._prompt_text(index), ()))])
        async for index, chunk in self.chunks():
            yield self._event([self._choice_of(index, chunk)])
        if self._request.includes_usage:
            yield self._event([], usage=self._usage())
        yield "data: [DONE]\n\n"

    async def whole(self) -> dict[str, Any]:
        async for _ in self.chunks():
            pass
        return {
            **self._head,
            "choices": [
                self._choice_of(
                    index,
                    Chunk(
                        (self._prompt_text(index) if self._request.echo else "") + choice.text,
                        tuple(choice.token_ids),
                        tuple(choice.logprobs),
                        choice.finish_reason,
                    ),
                )
                for index, choice in enumerate(self._choices)
            ],
            "usage": self._usage(),
        }

    def _add(self, index: int, chunk: Chunk) -> None:
        choice = self._choices[index]
        choice.text += chunk.text
        choice.token_ids += chunk.token_ids
        choice.logprobs += chunk.logprobs
        choice.finish_reason = chunk.finish_reason or choice.finish_reason
        choice.num_prompt_tokens = chunk.num_prompt_tokens or choice.num_prompt_tokens

    def _prompt_text(self, index: int) -> str:
        prompt = self._request.prompts[index // self._request.n]
        return prompt if isinstance(prompt, str) else ""

    def _choice_of(self, index: int, chunk: Chunk) -> dict[str, Any]:
        request = self._request
        has_logprobs = request.sampling.logprobs is not None
        return {
            "index": index,
            "text": chunk.text,
            "finish_reason": chunk.finish_reason,
            "logprobs": logprobs_body(chunk.logprobs) if has_logprobs else None,
            **({"token_ids": list(chunk.token_ids)} if request.returns_token_ids else {}),
        }

    def _usage(self) -> dict[str, int]:
        prompt = sum(choice.num_prompt_tokens for choice in self._choices[:: self._request.n])
        completion = sum(len(choice.token_ids) for choice in self._choices)
        return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}

    def _event(self, choices: list[dict[str, Any]], **more: Any) -> str:
        return f"data: {json.dumps({**self._head, 'choices': choices, **more})}\n\n"


def logprobs_body(logprobs: Sequence[TokenLogprobs]) -> dict[str, Any]:
    """Names tokens by their ids, as vLLM does for `return_tokens_as_token_ids`."""
    return {
        "tokens": [f"token_id:{entry.token_id}" for entry in logprobs],
        "token_logprobs": [entry.logprob for entry in logprobs],
        "top_logprobs": [{f"token_id:{i}": value for i, value in entry.top} for entry in logprobs],
        "text_offset": [],
    }
