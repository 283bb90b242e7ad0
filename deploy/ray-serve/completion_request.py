"""Requests to `POST /v1/completions` and `GET /?text=` as plain, checked data, without Ray, torch or vLLM."""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Sequence

MAX_PROMPTS = 64
MAX_SEED = 2**32 - 1

OPTIONS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("options.json").read_text())
"""Tabserve's generation options by their names in `/v1/completions`; `npm run write -- options` writes the file."""

Prompt = str | list[int]


class InvalidRequest(Exception):
    """A request that cannot be answered. `param` names the option to change."""

    def __init__(self, param: str, message: str, code: str = "invalid_option") -> None:
        # Ray recreates it from these on another replica.
        super().__init__(param, message, code)
        self.param = param
        self.message = message
        self.code = code

    def __str__(self) -> str:
        return self.message

    @classmethod
    def of(cls, param: str, expected: str, got: object) -> InvalidRequest:
        return cls(param, f"Expected `{param}` to be {expected}, got `{got}`.")

    @classmethod
    def unknown(cls, param: str, known: Sequence[str]) -> InvalidRequest:
        return cls(param, f"Unknown option `{param}`: the options are {', '.join(known)}.", "unknown_option")


@dataclass(frozen=True)
class Sampling:
    """One continuation of one prompt: the options that are computed here. An option without a field is refused."""

    max_tokens: int = OPTIONS["max_tokens"]["default"]
    temperature: float = OPTIONS["temperature"]["default"]
    top_p: float = OPTIONS["top_p"]["default"]
    top_k: int = OPTIONS["top_k"]["default"]
    min_p: float = OPTIONS["min_p"]["default"]
    repetition_penalty: float = OPTIONS["repetition_penalty"]["default"]
    presence_penalty: float = OPTIONS["presence_penalty"]["default"]
    frequency_penalty: float = OPTIONS["frequency_penalty"]["default"]
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    logprobs: int | None = None
    stop: tuple[str, ...] = ()
    seed: int = 0
    priority: int = OPTIONS["priority"]["default"]


@dataclass(frozen=True)
class TokenLogprobs:
    token_id: int
    logprob: float
    """Token id and logprob of the likeliest, the likeliest first."""
    top: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Chunk:
    """A piece of one continuation; the last one has a finish reason."""

    text: str
    token_ids: tuple[int, ...]
    logprobs: tuple[TokenLogprobs, ...] = ()
    finish_reason: str | None = None
    num_prompt_tokens: int = 0


@dataclass(frozen=True)
class CompletionRequest:
    model: str | None
    prompts: tuple[Prompt, ...]
    n: int
    sampling: Sampling
    echo: bool
    is_stream: bool
    includes_usage: bool
    returns_token_ids: bool

    def sampling_of(self, choice: int) -> Sampling:
        """Choices differ by their seeds, as vLLM's do."""
        return replace(self.sampling, seed=(self.sampling.seed + choice) % (MAX_SEED + 1))


Check = Callable[[str, Any], Any]


def _check(option: Mapping[str, Any]) -> Check:
    if option["type"] in ("integer", "number"):
        return _number(option)
    return {"boolean": _boolean, "strings": _stop(option), "logit-bias": _logit_bias(option)}[option["type"]]


def _number(option: Mapping[str, Any]) -> Check:
    is_integer = option["type"] == "integer"
    is_open = "above" in option
    low, high = option.get("above", option.get("from", -math.inf)), option.get("to", math.inf)
    kind = "an integer" if is_integer else "a number"
    bounds = f"{'above' if is_open else 'from'} {low}" + ("" if math.isinf(high) else f" to {high}")

    def check(name: str, value: Any) -> Any:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        is_kind = is_number and (not is_integer or value == int(value))
        if is_kind and (low < value if is_open else low <= value) and value <= high:
            return int(value) if is_integer else float(value)
        raise InvalidRequest.of(name, f"{kind} {bounds}", value)

    return check


def _boolean(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise InvalidRequest.of(name, "true or false", value)


def _stop(option: Mapping[str, Any]) -> Check:
    most = option.get("maxItems")

    def check(name: str, value: Any) -> tuple[str, ...]:
        given = [value] if isinstance(value, str) else value
        if isinstance(given, list) and len(given) <= most and all(isinstance(s, str) and s for s in given):
            return tuple(given)
        raise InvalidRequest.of(name, f"a text, or a list of at most {most}", value)

    return check


def _logit_bias(option: Mapping[str, Any]) -> Check:
    def check(name: str, value: Any) -> dict[int, float]:
        if isinstance(value, dict) and all(str(key).isdigit() for key in value):
            check_bias = _number({**option, "type": "number"})
            return {int(key): check_bias(name, bias) for key, bias in value.items()}
        raise InvalidRequest.of(name, "an object of token ids and biases", value)

    return check


NARROWER = {"max_tokens": {"from": 1}, "seed": {"from": 0, "to": MAX_SEED}}
"""Bounds of the models here that are narrower than Tabserve's."""

SAMPLING_OPTIONS: dict[str, Check] = {
    sampled.name: _check({**OPTIONS[sampled.name], **NARROWER.get(sampled.name, {})}) for sampled in fields(Sampling)
}

OWN_OPTIONS = (
    "model",
    "prompt",
    "n",
    "echo",
    "stream",
    "stream_options",
    "user",
    "return_token_ids",
    "return_tokens_as_token_ids",
)

QUERY_NAMES = {
    OPTIONS[name]["name"]: name
    for name in SAMPLING_OPTIONS
    if OPTIONS[name]["type"] in ("integer", "number") and name != "logprobs"
}
"""The numbers that `GET /` takes, by Tabserve's names: it answers with text alone."""

DEFAULT_MAX_TOKENS = 16
"""OpenAI's default in `/v1/completions`."""


def parse_completion(body: Any) -> CompletionRequest:
    if not isinstance(body, dict):
        raise InvalidRequest.of("body", "a JSON object", type(body).__name__)
    # OpenAI's clients write null for fields that are left out.
    given = {name: value for name, value in body.items() if value is not None}
    check_names(given, [*OWN_OPTIONS, *SAMPLING_OPTIONS])
    is_stream = _boolean("stream", given.get("stream", False))
    echo = _boolean("echo", given.get("echo", False))
    if echo and "logprobs" in given:
        raise InvalidRequest("echo", "`echo` and `logprobs` do not go together: a prompt has no logprobs here.")
    names_by_id = _boolean("return_tokens_as_token_ids", given.get("return_tokens_as_token_ids", False))
    if "logprobs" in given and not names_by_id:
        remedy = "texts of two tokens may be the same: set `return_tokens_as_token_ids` to true."
        raise InvalidRequest("logprobs", f"`logprobs` names tokens by their ids alone, since {remedy}")
    return CompletionRequest(
        model=given.get("model"),
        prompts=_prompts(given.get("prompt")),
        n=_check(OPTIONS["n"])("n", given.get("n", 1)),
        sampling=parse_sampling({"max_tokens": DEFAULT_MAX_TOKENS, **given}),
        echo=echo,
        is_stream=is_stream,
        includes_usage=_includes_usage(given.get("stream_options"), is_stream),
        returns_token_ids=_boolean("return_token_ids", given.get("return_token_ids", False)),
    )


def parse_query(query: Sequence[tuple[str, str]]) -> tuple[str, Sampling]:
    """`?text=…` with the generator's options by Tabserve's names; `stop` may come several times."""
    known = ["text", "stop", *QUERY_NAMES]
    options: dict[str, Any] = {}
    text: str | None = None
    for name, value in query:
        if name == "text":
            text = value
        elif name == "stop":
            options.setdefault("stop", []).append(value)
        elif name in QUERY_NAMES:
            try:
                options[QUERY_NAMES[name]] = float(value)
            except ValueError:
                raise InvalidRequest.of(name, "a number", value) from None
        else:
            raise InvalidRequest.unknown(name, known)
    if not text:
        raise InvalidRequest("text", "Expected `text` to be a prompt, got nothing.")
    try:
        return text, parse_sampling(options)
    except InvalidRequest as error:
        raise _in_query_names(error) from None


def _in_query_names(error: InvalidRequest) -> InvalidRequest:
    for ours, option in QUERY_NAMES.items():
        if option == error.param:
            return InvalidRequest(ours, error.message.replace(f"`{option}`", f"`{ours}`", 1), error.code)
    return error


def check_names(given: Iterable[str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise InvalidRequest.unknown(name, known)


def parse_sampling(given: Mapping[str, Any]) -> Sampling:
    checked = {name: check(name, given[name]) for name, check in SAMPLING_OPTIONS.items() if name in given}
    return Sampling(**{"seed": random.getrandbits(32), **checked})


def _prompts(given: Any) -> tuple[Prompt, ...]:
    if _is_prompt(given):
        return (given,)
    if isinstance(given, list) and 0 < len(given) <= MAX_PROMPTS and all(map(_is_prompt, given)):
        return tuple(given)
    raise InvalidRequest("prompt", f"Expected `prompt` to be a text, token ids, or a list of 1 to {MAX_PROMPTS} of them.")


def _is_prompt(value: Any) -> bool:
    if isinstance(value, str):
        return value != ""
    is_ids = isinstance(value, list) and len(value) > 0
    return is_ids and all(isinstance(token, int) and not isinstance(token, bool) and token >= 0 for token in value)


def _includes_usage(options: Any, is_stream: bool) -> bool:
    if options is None:
        return False
    if not is_stream:
        raise InvalidRequest("stream_options", "`stream_options` goes with `stream: true` alone.")
    if not isinstance(options, dict) or set(options) - {"include_usage"}:
        raise InvalidRequest.of("stream_options", "an object with `include_usage` alone", options)
    return _boolean("stream_options.include_usage", options.get("include_usage", False))
