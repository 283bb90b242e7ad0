"""Runs Python clients of OpenAI's API, each with its own tests, against Tabserve on the embedded model or a chat model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Callable, Mapping, Sequence

from environments import HERE, ROOT, version_of
from processes import free_port, run
from results import Results
from tabserve import ModelHub, Tabserve
from unit_tests import run_unit_tests

STORYTELLER = ROOT / "public" / "models" / "storyteller"
REFERENCE_TEXTS = (
    "Once upon a time, there was a village without water.",
    "The fox looked at the moon and said nothing.",
    "Hi my name is Lewis and I like to",
    "Ünïcode “quotes” and 日本",
)
# Package, environment, test module.
CLIENTS = (
    ("openai", "openai", "test_openai"),
    ("openai", "openai", "test_documents"),
    ("langchain-openai", "adapters", "test_langchain_openai"),
    ("litellm", "adapters", "test_litellm"),
    ("lm-eval", "evals", "test_lm_eval"),
    ("guidellm", "evals", "test_guidellm"),
)
# The same, on a generated model that takes chats.
CHAT_CLIENTS = (("llm", "chats", "test_llm"), ("inspect-ai", "chats", "test_inspect_ai"))
# The same, on a generated model that takes tools.
TOOL_CLIENTS = (("openai", "openai", "test_openai_tools"), ("pydantic-ai-slim", "agents", "test_pydantic_ai"))
# The same, on a generated model that answers PONG.
PROVIDER_CHECKS = (("trustedrouter-provider-check", "provider", "test_provider_check"),)
# The same, on a generated embedding model.
EMBEDDING_CLIENTS = tuple(
    (package, "embeddings", f"test_embeddings.{case}")
    for package, case in (
        ("openai", "OpenAi"),
        ("langchain-openai", "LangChain"),
        ("llama-index-embeddings-openai-like", "LlamaIndex"),
        ("chromadb", "Chroma"),
    )
)
ENCODERS_REFERENCE = ROOT / "tools" / "reference" / "fixtures" / "encoders-reference.json"
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "CUDA_VISIBLE_DEVICES": "",
    # Otherwise it requests prices from a server.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def run_clients(results: Results, environment: Callable[[str], Path]) -> None:
    reference = run_reference(environment("evals"))
    with Tabserve(free_port()) as tabserve:
        env = {
            "MODEL": "storyteller",
            "TABSERVE_URL": tabserve.url,
            "STORYTELLER": str(STORYTELLER),
            "REFERENCE": json.dumps(reference),
        }
        run_tests(CLIENTS, results, environment, env)


def run_chat_clients(results: Results, environment: Callable[[str], Path]) -> None:
    with ModelHub() as hub:
        models = ((hub.model, CHAT_CLIENTS), (hub.tool_model, TOOL_CLIENTS), (hub.pong_model, PROVIDER_CHECKS))
        for model, clients in models:
            with Tabserve(free_port(), "--model", model, "--hub", hub.url) as tabserve:
                env = {"MODEL": model, "TABSERVE_URL": tabserve.url, "REFERENCE": "[]"}
                run_tests(clients, results, environment, env)


def run_embedding_clients(results: Results, environment: Callable[[str], Path]) -> None:
    with ModelHub() as hub:
        reference = json.loads(ENCODERS_REFERENCE.read_text())[hub.embedding_model]
        expected = [{"text": text, "vector": vector} for text, vector in zip(reference["texts"], reference["embeddings"])]
        with Tabserve(free_port(), "--model", hub.embedding_model, "--dtype", "fp32", "--hub", hub.url) as tabserve:
            env = {"MODEL": hub.embedding_model, "TABSERVE_URL": tabserve.url, "REFERENCE": json.dumps(expected)}
            run_tests(EMBEDDING_CLIENTS, results, environment, env)


def run_tests(
    clients: Sequence[tuple[str, str, str]],
    results: Results,
    environment: Callable[[str], Path],
    env: Mapping[str, str],
) -> None:
    for package, name, module in clients:
        bin_folder = environment(name)
        subject = f"{package} {version_of(bin_folder, package)}"
        paths = {"PYTHONPATH": str(HERE / "clients")}
        run_unit_tests(results, subject, bin_folder, [module], env={**OFFLINE, **paths, **env})


def run_reference(bin_folder: Path) -> list[dict]:
    command = [bin_folder / "python", HERE / "reference.py", STORYTELLER, *REFERENCE_TEXTS]
    done = run(command, env=OFFLINE)
    # Progress bars come before it.
    line = next((line for line in done.stdout.splitlines() if line.startswith("[{")), None)
    if line is None:
        raise RuntimeError(f"PyTorch gave no reference:\n{done.stdout[-2000:]}")
    return json.loads(line)
