"""The model card (README.md of the model folder), written from what was measured."""

from bpe import Tokenizer
from model import Gpt2
from storyteller import PROMPTS, TEMPERATURE, TOP_K, sample

CARD = """---
language: en
license: mit
pipeline_tag: text-generation
tags: [gpt2, text-generation]
---

# Storyteller

A very small GPT-2 that tells short stories in simple English: {parameters:,} parameters, {bytes:.1f} MB in fp16, a context
of {context} tokens. It comes with Tabserve so that a tab can serve real text without downloading anything.

| | |
|---|---|
| architecture | GPT-2: {layers} layers, width {width}, {heads} heads, vocabulary {vocabulary} (byte-level BPE), tied output head |
| corpus | {stories:,} stories, {tokens:,} tokens, made by the story grammar in `tools/train/storyteller/grammar` (seed {corpus_seed}) |
| held out | {held_out_stories:,} stories, {held_out_tokens:,} tokens, none of them in the corpus |
| training | {steps:,} steps, {seen:,} tokens in {minutes:.0f} minutes on 2 CPU cores (seed {seed}) |
| held-out perplexity | {perplexity:.2f} per token, {bits:.3f} bits per byte |

The perplexity is low because the grammar's sentences vary less than people's do; it says nothing about other text.
All numbers and texts here are computed with the published fp16 weights.

## Intended use and limits

For showing and testing the serving of a language model: quick, deterministic when greedy, readable. It knows nothing about
the world, does not answer questions or follow instructions, and speaks English only. It continues a first sentence with
a story of 4 to 12 sentences about everyday life, wishes, talents, mishaps, fairy tales or space. Far from such beginnings
it falls back on them or rambles, and sampled text sometimes leaves its subject.
A prompt starts at position 0: do not put `<|endoftext|>` in front of it.

## Continuations

Greedy, 32 tokens (the prompt in bold):

{greedy}

Sampled at the model's defaults (temperature {temperature}, top-k {top_k}), up to 80 tokens or the story's end:

{sampled}

## Reproduce

The commands in `tools/train/storyteller/README.md` make every file of this folder from nothing. No text of others
went into it. Training paced by the clock (`--minutes`) gives a sibling of this model, not the same weights. License: MIT.
"""


def model_card(
    model: Gpt2, tokenizer: Tokenizer, run: dict, corpus: dict, scores: tuple[float, float], references: list[dict]
) -> str:
    config = model.config
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return CARD.format(
        parameters=parameters,
        bytes=2 * parameters / 1e6,
        context=config.n_positions,
        layers=config.n_layer,
        width=config.n_embd,
        heads=config.n_head,
        vocabulary=config.vocab_size,
        stories=corpus["train"]["stories"],
        tokens=corpus["train"]["tokens"],
        corpus_seed=corpus["seed"],
        held_out_stories=corpus["heldOut"]["stories"],
        held_out_tokens=corpus["heldOut"]["tokens"],
        steps=run["steps"],
        seen=run["tokens"],
        minutes=run["minutes"],
        seed=run["seed"],
        perplexity=scores[0],
        bits=scores[1],
        temperature=TEMPERATURE,
        top_k=TOP_K,
        greedy="\n".join(f"- **{entry['prompt']}**{entry['greedyText']}" for entry in references),
        sampled="\n".join(f"- **{prompt}**{_sampled(model, tokenizer, prompt)}" for prompt in PROMPTS),
    )


def _sampled(model: Gpt2, tokenizer: Tokenizer, prompt: str) -> str:
    ids = tokenizer.encode(prompt)
    return tokenizer.decode(sample(model, ids, 80, tokenizer.end_of_text, seed=1))
