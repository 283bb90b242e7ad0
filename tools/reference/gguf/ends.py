"""Asks llama.cpp which tokens of some vocabularies end a generation, and writes gguf-ends-reference.json: see README.md."""

import json
import tempfile
from pathlib import Path

from gguf import GGUFWriter
from llama_cpp import Llama, llama_cpp

FIXTURE = Path(__file__).parents[1] / "fixtures" / "gguf-ends-reference.json"

# Early Llama 3, Qwen, Gemma, Phi, Llama 2, DeepSeek, Harmony, Solar, Gemma 4, and what else there is.
VOCABULARIES = [
    ["a", "<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|eot_id|>", "<|eom_id|>"],
    ["a", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>"],
    ["a", "<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<unused0>"],
    ["a", "<|system|>", "<|user|>", "<|end|>", "<|endoftext|>"],
    ["a", "<s>", "</s>", "<unk>"],
    ["a", "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>"],
    ["a", "<|start|>", "<|end|>", "<|return|>", "<|call|>", "<|channel|>"],
    ["a", "<|end|>", "<|flush|>", "<|calls|>"],
    ["a", "</s>", "<turn|>", "<|tool_response>", "<|turn>"],
    ["a", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<end_of_utterance>", "[e~[", "<|end"],
]


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


cases = [{"tokens": tokens, "ends": ends_of(tokens)} for tokens in VOCABULARIES]
FIXTURE.write_text(json.dumps(cases, ensure_ascii=False, indent=2) + "\n")
