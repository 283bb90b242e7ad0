"""Publishes build/checkpoint.pt: the model folder in the hub's layout and the reference for the end-to-end tests.

Every number comes from the fp16 weights as written, loaded back. Nothing is replaced unless all of it could be made.
"""

import os

os.environ.update(OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2")

import argparse
import copy
import hashlib
import json
from pathlib import Path

import torch

import safetensors
from bpe import END_OF_TEXT, Tokenizer
from evaluate import BUILD, PUBLISHED, held_out_stories
from model import Gpt2, Gpt2Config
from model_card import model_card
from storyteller import GREEDY_TOKENS, MINIMUM_MARGIN, PROMPTS, TEMPERATURE, TOP_K, greedy, last_logits, load_model, perplexity

FIXTURE = Path(__file__).parents[2] / "reference" / "fixtures" / "storyteller-reference.json"
LONG_PROMPT = range(150, 200)  # tokens: longer than one prefill chunk


def gpt2_config(config: Gpt2Config, end_of_text: int) -> dict:
    """config.json with the keys of openai-community/gpt2."""
    return {
        "activation_function": "gelu_new",
        "architectures": ["GPT2LMHeadModel"],
        "attn_pdrop": 0.0,
        "bos_token_id": end_of_text,
        "embd_pdrop": 0.0,
        "eos_token_id": end_of_text,
        "initializer_range": 0.02,
        "layer_norm_epsilon": config.layer_norm_epsilon,
        "model_type": "gpt2",
        "n_ctx": config.n_positions,
        "n_embd": config.n_embd,
        "n_head": config.n_head,
        "n_inner": None,
        "n_layer": config.n_layer,
        "n_positions": config.n_positions,
        "resid_pdrop": 0.0,
        "scale_attn_weights": True,
        "tie_word_embeddings": True,
        "torch_dtype": "float16",
        "use_cache": True,
        "vocab_size": config.vocab_size,
    }


def tokenizer_config(config: Gpt2Config) -> dict:
    return {
        "add_prefix_space": False,
        "bos_token": END_OF_TEXT,
        # Says that there is none, so that no page looks for the files of one.
        "chat_template": None,
        "clean_up_tokenization_spaces": False,
        "eos_token": END_OF_TEXT,
        "model_max_length": config.n_positions,
        "tokenizer_class": "GPT2Tokenizer",
        "unk_token": END_OF_TEXT,
    }


def generation_config(end_of_text: int) -> dict:
    return {
        "bos_token_id": end_of_text,
        "do_sample": True,
        "eos_token_id": end_of_text,
        "max_new_tokens": 64,
        "temperature": TEMPERATURE,
        "top_k": TOP_K,
        "top_p": 1.0,
    }


def reference(model: Gpt2, double: Gpt2, tokenizer: Tokenizer, prompt: str) -> dict:
    """Expected values of the end-to-end tests. `double` is the same model in fp64, which must choose the same tokens."""
    ids = tokenizer.encode(prompt)
    logits = last_logits(model, ids)
    top = logits.topk(20)
    tokens, margin = greedy(model, ids, GREEDY_TOKENS)
    if greedy(double, ids, GREEDY_TOKENS)[0] != tokens:
        raise ValueError(f"Expected the same greedy tokens in fp32 and fp64 for {prompt!r}: run settle.py, then export again")
    return {
        "prompt": prompt,
        "promptTokenIds": ids,
        "top20": {"ids": top.indices.tolist(), "logits": top.values.tolist()},
        "logitsL2": logits.norm().item(),
        "logitsMean": logits.mean().item(),
        "greedyTokenIds": tokens,
        "greedyText": tokenizer.decode(tokens),
        "minGreedyMargin": margin,
    }


def long_prompts(tokenizer: Tokenizer):
    """Beginnings of the longest held-out stories, cut before a word."""
    for story in sorted(held_out_stories(), key=len, reverse=True):
        for length in LONG_PROMPT:
            prompt = tokenizer.decode(story[:length])
            if len(story) > length + 1 and tokenizer.decode(story[: length + 1])[len(prompt)] == " ":
                yield prompt
                break


def references(model: Gpt2, tokenizer: Tokenizer) -> tuple[list[dict], dict]:
    """The nine prompts', all with clear margins, and the first long prompt's that has one too."""
    double = copy.deepcopy(model).double()
    nine = [reference(model, double, tokenizer, prompt) for prompt in PROMPTS]
    for entry in nine:
        if entry["minGreedyMargin"] <= MINIMUM_MARGIN:
            raise ValueError(
                f"Expected a greedy margin above {MINIMUM_MARGIN}, got {entry['minGreedyMargin']:.4f} for "
                f"{entry['prompt']!r}: run settle.py, then export again"
            )
    for prompt in long_prompts(tokenizer):
        entry = reference(model, double, tokenizer, prompt)
        if entry["minGreedyMargin"] > MINIMUM_MARGIN:
            return nine, entry
    raise ValueError("Expected a held-out story long enough for the long prompt: use a larger corpus")


def write(path: Path, content: bytes) -> None:
    """Replaces the file in one step: others may be reading it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_bytes(content)
    temporary.replace(path)


def as_json(value: dict) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8")


def stage(folder: Path) -> tuple[dict, dict]:
    """Writes all files of the model but its card to folder; returns the training run and the corpus summary."""
    checkpoint = torch.load(BUILD / "checkpoint.pt")
    tensors = {name: tensor.half().numpy() for name, tensor in checkpoint["model"].items()}
    tokenizer = Tokenizer.load(BUILD / "tokenizer.json")
    config = Gpt2Config()
    write(folder / "model.safetensors", safetensors.to_bytes(tensors))
    write(folder / "config.json", as_json(gpt2_config(config, tokenizer.end_of_text)))
    write(folder / "tokenizer.json", as_json(tokenizer.to_json()))
    write(folder / "tokenizer_config.json", as_json(tokenizer_config(config)))
    write(folder / "generation_config.json", as_json(generation_config(tokenizer.end_of_text)))
    return checkpoint["run"], json.loads((BUILD / "corpus.json").read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage-only", action="store_true", help="make everything in build/export, publish nothing")
    options = parser.parse_args()
    staged = BUILD / "export"
    run, corpus = stage(staged)
    model, tokenizer = load_model(staged), Tokenizer.load(staged / "tokenizer.json")
    nine, long_prompt = references(model, tokenizer)
    weights = (staged / "model.safetensors").read_bytes()
    fixture = {
        "model": "storyteller",
        "weightsSha256": hashlib.sha256(weights).hexdigest(),
        "torch": torch.__version__,
        "prompts": nine,
        "longPrompt": long_prompt,
    }
    scores = perplexity(model, tokenizer, held_out_stories())
    write(staged / "README.md", model_card(model, tokenizer, run, corpus, scores, nine).encode("utf-8"))
    print(f"perplexity {scores[0]:.3f}, {scores[1]:.4f} bits per byte, {len(weights)} bytes")
    for entry in [*nine, long_prompt]:
        print(f"{entry['minGreedyMargin']:.4f} {entry['prompt'][-60:]} ->{entry['greedyText']}")
    if not options.stage_only:
        for path in sorted(staged.iterdir()):
            write(PUBLISHED / path.name, path.read_bytes())
        write(FIXTURE, as_json(fixture))


if __name__ == "__main__":
    main()
