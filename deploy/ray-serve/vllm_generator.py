"""The text generator with vLLM inside, which batches between steps: Tabserve's policy `continuous`."""

from __future__ import annotations

import uuid
from typing import Any, AsyncGenerator

from ray import serve

from completion_request import SAMPLING_OPTIONS, Chunk, InvalidRequest, Prompt, Sampling, TokenLogprobs


@serve.deployment
class VllmGenerator:
    def __init__(self, engine_kwargs: dict[str, Any]) -> None:
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM
        from vllm.v1.metrics.ray_wrappers import RayPrometheusStatLogger

        # Its metrics go out with Ray's.
        loggers = [RayPrometheusStatLogger]
        self._engine = AsyncLLM.from_engine_args(AsyncEngineArgs(**engine_kwargs), stat_loggers=loggers)

    async def check_health(self) -> None:
        await self._engine.check_health()

    async def describe(self) -> dict[str, Any]:
        config = self._engine.model_config
        return {"id": config.served_model_name or config.model, "max_model_len": config.max_model_len}

    async def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[Chunk, None]:
        engine_prompt = prompt if isinstance(prompt, str) else {"prompt_token_ids": prompt}
        outputs = self._engine.generate(
            engine_prompt, sampling_params(sampling), uuid.uuid4().hex, priority=sampling.priority
        )
        try:
            # Closing it aborts the request in the engine, for example when the client disconnects.
            async for output in outputs:
                yield to_chunk(output, sampling.logprobs)
        except ValueError as error:
            # The engine refuses a prompt that is longer than the context, for example.
            raise InvalidRequest("prompt", str(error)) from error


def sampling_params(sampling: Sampling) -> Any:
    from vllm.sampling_params import RequestOutputKind, SamplingParams

    # The engine takes the priority as a separate argument.
    options = {name: getattr(sampling, name) for name in SAMPLING_OPTIONS if name != "priority"}
    options |= {"logit_bias": dict(sampling.logit_bias) or None, "stop": list(sampling.stop)}
    return SamplingParams(**options, output_kind=RequestOutputKind.DELTA)


def to_chunk(output: Any, num_logprobs: int | None) -> Chunk:
    part = output.outputs[0]
    token_ids = tuple(part.token_ids)
    logprobs = () if num_logprobs is None else _logprobs(token_ids, part.logprobs or [], num_logprobs)
    # Later outputs may leave the prompt out.
    num_prompt_tokens = len(output.prompt_token_ids or ())
    return Chunk(part.text, token_ids, logprobs, part.finish_reason, num_prompt_tokens)


def _logprobs(token_ids: tuple[int, ...], given: list[dict[int, Any]], num_top: int) -> tuple[TokenLogprobs, ...]:
    def of(token_id: int, entries: dict[int, Any]) -> TokenLogprobs:
        likeliest = sorted(((i, entry.logprob) for i, entry in entries.items()), key=lambda pair: -pair[1])
        return TokenLogprobs(token_id, entries[token_id].logprob, tuple(likeliest[:num_top]))

    return tuple(of(token_id, entries) for token_id, entries in zip(token_ids, given))
