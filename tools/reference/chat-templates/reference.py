"""How huggingface/transformers renders chat templates. Writes four files of tools/reference/fixtures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from transformers.utils.chat_template_utils import _compile_jinja_template, render_jinja_template

from bodies import MODELS, PART_BODIES, PROBES, TOOL_BODIES, as_sent, for_template, texts_of, without_null
from chats import CHATS, FOLDER, TOKENS
from features import CONTEXT, TEMPLATES
from ids import reference as reference_of_ids

TARGET = Path(__file__).resolve().parents[1] / "fixtures"


def render(template: str, context: dict) -> dict:
    try:
        return {"text": _compile_jinja_template(template).render(**context)}
    except Exception as error:  # noqa: BLE001 - each error of Python counts
        return {"error": f"{type(error).__name__}: {error}"}


def write_features() -> None:
    cases = [{"template": template, **render(template, CONTEXT)} for template in TEMPLATES]
    # As texts: a reader in JavaScript would lose the order of fields, and the form of numbers.
    context = {name: json.dumps(value) for name, value in CONTEXT.items()}
    write("template-features-reference.json", {"context": context, "cases": cases})


def render_chat(template: str, chat: dict) -> dict:
    variables = {**TOKENS, "add_generation_prompt": True, **chat}
    try:
        [text], _ = render_jinja_template([variables.pop("messages")], chat_template=template, **variables)
        return {"text": text}
    except Exception as error:  # noqa: BLE001 - each error of Python counts
        return {"error": f"{type(error).__name__}: {error}"}


def write_models() -> None:
    models = []
    for path in sorted(FOLDER.glob("*.jinja")):
        template = path.read_text().removesuffix("\n")
        models.append({"name": path.stem, "rendered": [render_chat(template, chat) for chat in CHATS]})
    write("template-models-reference.json", {"tokens": TOKENS, "chats": [json.dumps(chat) for chat in CHATS], "models": models})


def render_parts(template: str, body: dict) -> dict:
    """Where Python would write the list itself, leave its texts out, or fail, the parts are lines."""
    as_list = render_chat(template, body)
    text = as_list.get("text", "")
    if "'type': 'text'" not in text and all(part.strip() in text for part in texts_of(body)):
        return as_list
    return render_chat(template, for_template(body))


def write_bodies() -> None:
    templates = [(name, (FOLDER / f"{name}.jinja").read_text().removesuffix("\n")) for name in MODELS]
    rendered = [
        {
            "template": name,
            "rendered": [render_chat(source, without_null(body)) for body in TOOL_BODIES] + [render_parts(source, body) for body in PART_BODIES],
        }
        for name, source in [*templates, *((probe, probe) for probe in PROBES)]
    ]
    bodies = [as_sent(body) for body in (*TOOL_BODIES, *PART_BODIES)]
    write("chat-bodies-reference.json", {"tokens": TOKENS, "bodies": bodies, "templates": rendered})


def write(name: str, value: object) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1)
    (TARGET / name).write_text(text + "\n")
    print(f"{name}: {len(text.encode()) // 1000} kB")


if __name__ == "__main__":
    write_features()
    write_models()
    write_bodies()
    write("chat-ids-reference.json", reference_of_ids())
