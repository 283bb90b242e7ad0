"""What llama.cpp says of GGUF files: which tokens end a generation, and how it continues a prompt in fp32. See README.md."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from gguf import GGUFWriter
from llama_cpp import GGML_TYPE_F32, Llama, llama_cpp
from support import read_json, write

NUM_TOKENS = 24
CONTEXT = 256


def ends_of(tokens: list[str]) -> list[str]:
    """All but the first are control tokens; the last but one is named as the end."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vocabulary.gguf"
        writer = GGUFWriter(path, "llama")
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("gpt-2")
        writer.add_token_list(tokens)
        writer.add_token_types([1] + [3] * (len(tokens) - 1))
        writer.add_token_merges(["a a"])
        writer.add_eos_token_id(len(tokens) - 2)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        llama = Llama(model_path=str(path), vocab_only=True, verbose=False)
        vocab = llama_cpp.llama_model_get_vocab(llama.model)
        ends = [text for i, text in enumerate(tokens) if llama_cpp.llama_vocab_is_eog(vocab, i)]
        llama.close()
        return ends


def continue_greedily(path: Path, prompt: list[int]) -> list[int]:
    """End tokens do not end the text."""
    in_fp32 = {"type_k": GGML_TYPE_F32, "type_v": GGML_TYPE_F32, "flash_attn": False}
    llama = Llama(model_path=str(path), n_ctx=CONTEXT, n_batch=CONTEXT, logits_all=True, n_threads=1, verbose=False, **in_fp32)
    tokens = list(prompt)
    llama.eval(tokens)
    for _ in range(NUM_TOKENS):
        tokens.append(int(np.argmax(llama.scores[llama.n_tokens - 1])))
        llama.eval(tokens[-1:])
    llama.close()
    return tokens[-NUM_TOKENS:]


ends = [{"tokens": tokens, "ends": ends_of(tokens)} for tokens in read_json("gguf/texts.json")["vocabularies"]]
write("gguf-ends", ends, ensure_ascii=False, indent=2)
# The longest: windows and frequencies show from some tokens on.
ids = read_json("fixtures/decoders-reference.json")["generated/qwen2"]["prompts"][-1]["promptTokenIds"]
answers = {path.stem: continue_greedily(path, ids) for path in sorted(Path(sys.argv[1]).glob("*.gguf"))}
write("gguf-variants", {"promptTokenIds": ids, "greedyTokenIds": answers})
