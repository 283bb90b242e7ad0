"""Publishes the model in build/ with a card that states what was measured on its fp16 weights."""

import json
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from transformers import GPT2LMHeadModel

from model import BUILD, GREEDY_TOKENS, HERE, PROMPTS, PUBLISHED, greedy, held_out_stories, load_model, load_tokenizer, perplexity, sample

sys.path.insert(0, str(Path(__file__).parents[1]))

from export import publish  # noqa: E402


def model_card(model: GPT2LMHeadModel, tokenizer: Tokenizer) -> str:
    config, defaults = model.config, model.generation_config
    tokens, held_out = np.load(BUILD / "tokens.npy"), held_out_stories()
    run = json.loads((BUILD / "run.json").read_text())
    per_token, per_byte = perplexity(model, tokenizer, held_out)
    prompts = {prompt: tokenizer.encode(prompt).ids for prompt in PROMPTS}
    texts = {
        "greedy": {prompt: greedy(model, ids, GREEDY_TOKENS)[0] for prompt, ids in prompts.items()},
        "sampled": {prompt: sample(model, ids, 80, seed=1) for prompt, ids in prompts.items()},
    }
    return (HERE / "card.txt").read_text("utf-8").format(
        **{kind: "\n".join(f"- **{prompt}**{tokenizer.decode(ids)}" for prompt, ids in of.items()) for kind, of in texts.items()},
        **run,
        parameters=model.num_parameters(), bytes=2 * model.num_parameters() / 1e6, context=config.n_positions, layers=config.n_layer,
        width=config.n_embd, heads=config.n_head, vocabulary=config.vocab_size, perplexity=per_token, bits=per_byte,
        stories=(tokens == config.eos_token_id).sum(), corpus_tokens=len(tokens), held_out=len(held_out),
        temperature=defaults.temperature, top_k=defaults.top_k,
    )  # fmt: skip


def main() -> None:
    files = {PUBLISHED / name: (BUILD / name).read_bytes() for name in ("model.safetensors", "tokenizer.json")}
    files[PUBLISHED / "README.md"] = model_card(load_model(BUILD), load_tokenizer(BUILD)).encode()
    publish(files)


if __name__ == "__main__":
    main()
