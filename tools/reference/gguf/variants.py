"""Lets llama.cpp continue a prompt with each file of write-variants.ts, in fp32, and writes what it says: see README.md."""

import json
import sys
from pathlib import Path

import numpy as np
from llama_cpp import GGML_TYPE_F32, Llama

FIXTURES = Path(__file__).parents[1] / "fixtures"
NUM_TOKENS = 24
CONTEXT = 256

decoders = json.loads((FIXTURES / "decoders-reference.json").read_text())
# The longest: windows and frequencies show from some tokens on.
prompt = decoders["generated/qwen2"]["prompts"][-1]


def continue_greedily(path: Path) -> list[int]:
    """End tokens do not end the text."""
    llama = Llama(
        model_path=str(path),
        n_ctx=CONTEXT,
        n_batch=CONTEXT,
        logits_all=True,
        type_k=GGML_TYPE_F32,
        type_v=GGML_TYPE_F32,
        flash_attn=False,
        n_threads=1,
        verbose=False,
    )
    tokens = list(prompt["promptTokenIds"])
    llama.eval(tokens)
    for _ in range(NUM_TOKENS):
        token = int(np.argmax(llama.scores[llama.n_tokens - 1]))
        tokens.append(token)
        llama.eval([token])
    llama.close()
    return tokens[-NUM_TOKENS:]


answers = {path.stem: continue_greedily(path) for path in sorted(Path(sys.argv[1]).glob("*.gguf"))}
result = {"promptTokenIds": prompt["promptTokenIds"], "greedyTokenIds": answers}
(FIXTURES / "gguf-variants-reference.json").write_text(json.dumps(result) + "\n")
