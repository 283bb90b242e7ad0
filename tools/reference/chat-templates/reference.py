"""How huggingface/transformers renders chat templates, and the ids of what it renders: see README.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Callable

from support import HERE, INDENTED_TEXT, ROOT, read_json, read_named, write
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast
from transformers.utils.chat_template_utils import _compile_jinja_template, render_jinja_template

FOLDER = HERE / "chat-templates" / "models"
PACKAGES = ROOT / "node_modules" / "@lenml"

DATA = read_named("chat-templates/chats.json")
TOKENS = DATA["tokens"]


def template_of(path: Path) -> str:
    return path.read_text().removesuffix("\n")


def attempt(render: Callable[[], str]) -> dict:
    try:
        return {"text": render()}
    except Exception as error:  # noqa: BLE001 - each error of Python counts
        return {"error": f"{type(error).__name__}: {error}"}


def features() -> dict:
    data = read_json("chat-templates/features.json")
    context = data["context"]
    cases = [
        {"template": template, **attempt(lambda: _compile_jinja_template(template).render(**context))}
        for template in data["templates"]
    ]
    # As texts: a reader in JavaScript would lose the order of fields, and the form of numbers.
    return {"context": {name: json.dumps(value) for name, value in context.items()}, "cases": cases}


def render_chat(template: str, chat: dict) -> dict:
    variables = {**TOKENS, "add_generation_prompt": True, **chat}
    messages = variables.pop("messages")
    return attempt(lambda: render_jinja_template([messages], chat_template=template, **variables)[0][0])


def models() -> dict:
    rendered = [
        {"name": path.stem, "rendered": [render_chat(template_of(path), chat) for chat in DATA["chats"]]}
        for path in sorted(FOLDER.glob("*.jinja"))
    ]
    return {"tokens": TOKENS, "chats": [json.dumps(chat) for chat in DATA["chats"]], "models": rendered}


def with_contents(body: dict, change) -> dict:
    messages = [{**given, "content": change(given["content"])} if "content" in given else given for given in body["messages"]]
    return {**body, "messages": messages}


def without_null(body: dict) -> dict:
    """A content of null as the empty text, as vLLM gives it: OpenAI's clients send null back with each answer that has calls alone."""
    return with_contents(body, lambda content: "" if content is None else content)


def render_parts(template: str, body: dict) -> dict:
    """Where Python would write the list itself, leave its texts out, or fail, the parts are lines, as vLLM writes them."""
    as_list = render_chat(template, body)
    text = as_list.get("text", "")
    texts = [part["text"] for given in body["messages"] if isinstance(given["content"], list) for part in given["content"]]
    if "'type': 'text'" not in text and all(part.strip() in text for part in texts):
        return as_list
    lines = with_contents(body, lambda content: "\n".join(part["text"] for part in content) if isinstance(content, list) else content)
    return render_chat(template, lines)


def as_sent(body: dict) -> str:
    """As a client sends it: the arguments of calls are a text of JSON."""

    def sent(given: dict) -> dict:
        if "tool_calls" not in given:
            return given
        functions = [{**call, "function": {**call["function"], "arguments": json.dumps(call["function"]["arguments"])}} for call in given["tool_calls"]]
        return {**given, "tool_calls": functions}

    return json.dumps({"model": "m", **body, "messages": [sent(given) for given in body["messages"]]})


def bodies() -> dict:
    """Null, left out, parts, and the fields of tools in any order."""
    with_tools, with_parts = DATA["toolBodies"], DATA["partBodies"]
    templates = [(name, template_of(FOLDER / f"{name}.jinja")) for name in DATA["bodyTemplates"]]
    rendered = [
        {
            "template": name,
            "rendered": [render_chat(source, without_null(body)) for body in with_tools]
            + [render_parts(source, body) for body in with_parts],
        }
        for name, source in [*templates, *((probe, probe) for probe in DATA["probes"])]
    ]
    return {"tokens": TOKENS, "bodies": [as_sent(body) for body in with_tools + with_parts], "templates": rendered}


def ids_of(case: dict) -> dict:
    """Some templates write the first token, some tokenizers add it to texts, and some do both."""
    parts = json.loads((PACKAGES / f"tokenizer-{case['tokenizer']}" / "models" / "tokenizer.json").read_text())
    tokens = {name: case[name] for name in ("bos_token", "eos_token")}
    config = {**tokens, "chat_template": template_of(FOLDER / f"{case['template']}.jinja")}
    fast = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps({**parts, **case["changes"]})), **config)
    options = {"tokenize": True, "return_dict": False, "add_generation_prompt": True, **DATA["day"]}
    return {
        **{name: case[name] for name in ("tokenizer", "changes", "template")},
        "config": config,
        "ids": [fast.apply_chat_template(chat, **options) for chat in DATA["idChats"]],
        "idsOfText": fast("Hi").input_ids,
    }


def main() -> None:
    write("template-features", features(), **INDENTED_TEXT)
    write("template-models", models(), **INDENTED_TEXT)
    write("chat-bodies", bodies(), **INDENTED_TEXT)
    ids = [ids_of(case) for case in DATA["idCases"]]
    write("chat-ids", {"chats": DATA["idChats"], "variables": DATA["day"], "cases": ids}, **INDENTED_TEXT)


main()
