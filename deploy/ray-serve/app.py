"""The applications that the config files name: `serve run serve.transformers.yaml`, `serve deploy serve.vllm.yaml`."""

from __future__ import annotations

from typing import Any

from ray.serve import Application

from ingress import Ingress
from small_deployments import Adder, HousePrice

DEFAULT_MODEL = "openai-community/gpt2"


def transformers_app(args: dict[str, Any]) -> Application:
    """One batch at a time, gathered by `@serve.batch`. `args`: `model`, `revision`, `device`."""
    from transformers_generator import TransformersGenerator

    return _app(TransformersGenerator.bind(**{"model": DEFAULT_MODEL, **args}))


def vllm_app(args: dict[str, Any]) -> Application:
    """Batched between steps by vLLM. `args`: what `vllm serve` takes, with underscores."""
    from vllm_generator import VllmGenerator

    return _app(VllmGenerator.bind({"model": DEFAULT_MODEL, **args}))


def _app(generator: Application) -> Application:
    return Ingress.bind(generator, Adder.bind(), HousePrice.bind())
