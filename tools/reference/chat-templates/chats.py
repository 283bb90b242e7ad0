"""Chats as huggingface/transformers takes them, and the templates of models that they are rendered with."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "models"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def message(role: str, content: object, **fields: object) -> dict:
    return {"role": role, "content": content, **fields}


def call(name: str, call_id: str, arguments: dict) -> dict:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": 'The weather: "sunny", <b>rain</b> & \'snow\', 10 °C {x} %s.',
        "parameters": {
            "type": "object",
            "properties": {
                "z": {"type": "string", "description": "A city, as 東京"},
                "10": {"type": "array", "items": {"type": "integer"}, "default": [2.0, 1]},
                "9": {"type": "string", "enum": ["C", "F"], "default": "C"},
                "deep": {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
            },
            "required": ["z"],
        },
    },
}
TIME = {
    "type": "function",
    "function": {"name": "get_time", "description": "The time", "parameters": {"type": "object", "properties": {}}},
}

SYSTEM = message("system", "You answer in one word. ")
USER = message("user", "What is 2 + 2?")
ANSWER = message("assistant", "It is 4.")
THOUGHT = message("assistant", "<think>\nTwo.\n</think>\n\nIt is 4.")
ODD = message("user", "  \n {{ x }} {% if %} <|im_end|> 👩‍👩‍👧 ßǆ \"q\" 'a' \\n \u00a0 \n")
CALLS = [
    call("get_weather", "abcdefghi", {"z": "Zürich \"'", "10": [1, 2.0], "9": "F", "big": 1413617112501850121}),
    call("get_time", "jklmnopqr", {}),
]
CALLED = message("assistant", "", tool_calls=CALLS[:1])
BOTH = message("assistant", "Let me see.", tool_calls=CALLS)
TOLD = message("tool", '{"weather": "rain"}', tool_call_id="abcdefghi", name="get_weather")
NOON = message("tool", "noon", tool_call_id="jklmnopqr", name="get_time")
PARTS = message("user", [{"type": "text", "text": " Look "}, {"type": "image"}, {"type": "text", "text": "here"}])

CHATS = (
    {"messages": [USER]},
    {"messages": [USER, ANSWER], "add_generation_prompt": False},
    {"messages": [SYSTEM, ODD, ANSWER, USER]},
    {"messages": [SYSTEM, USER, THOUGHT, USER], "enable_thinking": False},
    {"messages": [USER, USER, SYSTEM]},
    {"messages": [message("user", "Hi", name="Ann"), message("assistant", "Yo", reasoning_content="Hm."), USER]},
    {"messages": [PARTS]},
    {"messages": [USER], "tools": [WEATHER, TIME]},
    {"messages": [SYSTEM, USER, CALLED, TOLD], "tools": [WEATHER]},
    {"messages": [USER, BOTH, TOLD, NOON, ANSWER, USER], "tools": [TIME, WEATHER]},
    {"messages": [SYSTEM, USER, message("assistant", "", reasoning_content="Rain?", tool_calls=CALLS[:1]), TOLD, ANSWER], "tools": [WEATHER], "add_generation_prompt": False},
)
