"""Tries Tabserve beside a real Ray and with Python's own clients: `npm run test:python -- SUITE…`.

It makes its virtual environments by itself, runs everything on loopback and ends with `N passed, N failed`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from environments import HERE, ROOT, environment
from servers import NODE, running, tabserve

CLIENTS = HERE / "clients"
TRAIN = ROOT / "tools" / "train"
STORYTELLER = ROOT / "public" / "models" / "storyteller"
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "CUDA_VISIBLE_DEVICES": "",
    # Otherwise litellm requests prices from a server.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}


@dataclass(frozen=True)
class Suite:
    # The name of a requirement file.
    packages: str
    # What Tabserve serves meanwhile; none if the tests start their own servers, or need none.
    model: str | None
    modules: tuple[str, ...]
    folder: Path = CLIENTS


SUITES = {
    "ray": Suite("ray", None, ("test_ray",), HERE),
    "openai": Suite("openai", "storyteller", ("test_openai", "test_documents")),
    "adapters": Suite("adapters", "storyteller", ("test_langchain_openai", "test_litellm")),
    "evals": Suite("evals", "storyteller", ("test_lm_eval", "test_guidellm")),
    "chats": Suite("chats", "generated/chat", ("test_llm", "test_inspect_ai")),
    "tools": Suite("openai", "generated/tools", ("test_openai_tools",)),
    "agents": Suite("agents", "generated/tools", ("test_pydantic_ai",)),
    "apis": Suite("apis", "generated/tools", ("test_anthropic", "test_ollama")),
    "apis-embeddings": Suite("apis", "generated/bert", ("test_ollama_embeddings",)),
    "provider": Suite("provider", "generated/pong", ("test_provider_check",)),
    "recorded-tools": Suite("canitoolcall", None, ("test_canitoolcall",)),
    "embeddings": Suite("embeddings", "generated/bert", ("test_embeddings",)),
    "rag": Suite("embeddings", None, ("test_rag",)),
    "storyteller": Suite("transformers", None, ("test_stories",), TRAIN / "storyteller"),
    "house-price": Suite("transformers", None, ("test_house_price",), TRAIN / "house-price"),
}


def main() -> int:
    # A shell that runs this in the background makes it ignore Ctrl+C, which its child processes would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    names = sys.argv[1:] or [*SUITES]
    if unknown := set(names) - set(SUITES):
        raise SystemExit(f"Unknown suite {', '.join(sorted(unknown))}: the suites are {', '.join(SUITES)}.")
    if sys.version_info < (3, 11):
        raise SystemExit(f"Python 3.11 or later is needed, this is {sys.version.split()[0]}.")
    subprocess.run([NODE, ROOT / "node_modules" / "vite" / "bin" / "vite.js", "build", "--logLevel", "warn"], cwd=ROOT, check=True)
    with running([NODE, "tools/hub-server/main.ts"], r"The hub at (\S+) has") as hub:
        passed = {name: run(name, SUITES[name], hub.group(1)) for name in names}
    for name, is_passed in passed.items():
        print(f"{'ok    ' if is_passed else 'FAILED'} {name}")
    num_passed = sum(passed.values())
    print(f"\n{num_passed} passed, {len(passed) - num_passed} failed")
    return 0 if num_passed == len(passed) else 1


def run(name: str, suite: Suite, hub_url: str) -> bool:
    """Whether all its tests passed."""
    print(f"\n=== {name}", flush=True)
    env = {**os.environ, **OFFLINE, "PYTHONPATH": str(HERE), "STORYTELLER": str(STORYTELLER)}
    try:
        python = environment(suite.packages) / "python"
        with ExitStack() as stack:
            if suite.model is not None:
                url = stack.enter_context(tabserve("--model", suite.model, "--dtype", "fp32", "--hub", hub_url))
                env |= {"TABSERVE_URL": url, "MODEL": suite.model}
            command = [python, "-B", "-m", "unittest", "-v", *suite.modules]
            return subprocess.run(command, cwd=suite.folder, env=env).returncode == 0
    except (RuntimeError, subprocess.CalledProcessError) as error:
        print(error, flush=True)
        return False


if __name__ == "__main__":
    sys.exit(main())
