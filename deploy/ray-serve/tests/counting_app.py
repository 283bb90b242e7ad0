"""The application over a model that counts, so that every answer is known in advance."""

from __future__ import annotations

import asyncio
import types

import numpy
import ray
from ray import serve
from ray.serve import Application

from completion_request import Chunk
from counting_model import EOS_ID, CountingModel, decode, encode
from ingress import Ingress
from small_deployments import Adder, HousePrice
from transformers_generator import TransformersGenerator

FEATURES = [{"name": "area", "min": 30, "max": 300}, {"name": "rooms", "min": 1, "max": 7}]
# These token ids stand for a fault.
FAILS, BREAKS, WAITS = [0, 0, 1], [0, 0, 2], [0, 0, 3]


@ray.remote(num_cpus=0)
class Gate:
    """Holds prompts back until it opens. It's an actor of its own because a full replica would not take the call."""

    def __init__(self):
        self._opened = asyncio.Event()

    async def open(self):
        self._opened.set()

    async def wait(self):
        await self._opened.wait()


GATE = {"name": "gate", "namespace": "counting"}


class CountingTokenizer:
    def __call__(self, text):
        return {"input_ids": list(encode(text))}

    def decode(self, ids, skip_special_tokens):
        assert skip_special_tokens
        return decode(ids)


class CountingGenerator(TransformersGenerator.func_or_class):
    def __init__(self):
        self._id = "counting"
        self._tokenizer = CountingTokenizer()
        self._model = CountingModel()
        self._max_length = 32
        self._eos_ids = frozenset([EOS_ID])

    async def take_batch_sizes(self):
        """The number of rows of each forward pass since the last call."""
        sizes = [rows for rows, _ in self._model.batch_shapes]
        self._model.batch_shapes.clear()
        return sizes

    async def generate(self, prompt, sampling):
        if prompt == FAILS:
            raise RuntimeError("secret path")
        if prompt in (BREAKS, WAITS):
            yield Chunk("c", (2,))
        if prompt == BREAKS:
            raise RuntimeError("secret path")
        if prompt == WAITS:
            await ray.get_actor(**GATE).wait.remote()
            yield Chunk("", (), (), "stop", 3)
            return
        async for chunk in super().generate(prompt, sampling):
            yield chunk


class TwoFeaturePrice(HousePrice.func_or_class):
    def __init__(self):
        self._features = FEATURES
        run = lambda _, feed: (feed["features"].sum(axis=1, keepdims=True).astype(numpy.float32),)
        self._session = types.SimpleNamespace(run=run)


LIGHT = {"ray_actor_options": {"num_cpus": 0.1}, "max_ongoing_requests": 64}


def application(**generator_options: int) -> Application:
    generator = serve.deployment(CountingGenerator).options(
        **{**LIGHT, **generator_options}, user_config={"max_batch_size": 4, "batch_wait_timeout_s": 0.5}
    )
    price = serve.deployment(TwoFeaturePrice)
    return Ingress.options(**LIGHT).bind(
        generator.bind(), Adder.options(**LIGHT).bind(), price.options(**LIGHT).bind()
    )
