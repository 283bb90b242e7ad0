"""Bodies of chat completions as clients write them: null, left out, parts, and the fields of tools in any order."""

from __future__ import annotations

import json

from chats import ANSWER, CALLS, USER, call, message

# Those that write tools, calls or contents in ways of their own, and some that read texts alone.
MODELS = (
    "chatml",
    "deepseek-v3",
    "falcon-3",
    "functiongemma",
    "gemma-3",
    "glm-4.5",
    "gpt-oss",
    "granite-4",
    "llama-3.1",
    "llama-3.2",
    "llama-4",
    "mistral-nemo",
    "qwen-2.5",
    "qwen-3",
    "smollm-3",
)
# What every template may ask of a message.
PROBES = (
    "{% for m in messages %}{{ m.role }} {{ 'content' in m }} {{ m.content is none }} {{ m.content }}|{% endfor %}{{ tools | tojson }}",
    "{% for m in messages %}{% if m.content is iterable and m.content is not string %}"
    "{% for part in m.content %}[{{ part.text }}]{% endfor %}{% else %}{{ '[' ~ m.content ~ ']' }}{% endif %}{% endfor %}",
)

PARAMETERS = {"properties": {"z": {"type": "string"}, "10": {"type": "integer"}}, "type": "object", "required": ["z"]}


def tool(**function: object) -> dict:
    return {"type": "function", "function": function}


def parts(*texts: str) -> list:
    return [{"type": "text", "text": text} for text in texts]


def without_content(given: dict) -> dict:
    return {name: value for name, value in given.items() if name != "content"}


NO_ARGUMENTS = call("get_time", "abcdefghi", {})
CALLED = message("assistant", None, tool_calls=[NO_ARGUMENTS])
NOON = message("tool", "noon", tool_call_id="abcdefghi", name="get_time")
TIME = tool(name="get_time", description="The time")
WEATHER = tool(parameters=PARAMETERS, name="get_weather", strict=True, description="The weather")

# Their chats are tools' that are written as JSON, so the text tells how each tool came.
TOOL_BODIES = (
    {"messages": [USER], "tools": [TIME]},
    {"messages": [USER], "tools": [tool(name="get_time", description="The time", parameters={})]},
    {"messages": [USER], "tools": [tool(description="The time", name="get_time", parameters=None, strict=None)]},
    {"messages": [USER], "tools": [WEATHER, tool(name="get_time")]},
    {"messages": [USER], "tools": [tool(name="f", description="", parameters={"properties": {"a": {}}})]},
    {"messages": [USER, CALLED, NOON], "tools": [TIME]},
    {"messages": [USER, without_content(CALLED), NOON], "tools": [TIME]},
    {"messages": [USER, {**CALLED, "content": ""}, NOON, ANSWER, USER], "tools": [TIME]},
    {"messages": [USER, message("assistant", None, tool_calls=CALLS[:1]), {**NOON, "name": "get_weather"}], "tools": [WEATHER]},
)
# A text in parts, by the role whose content it is.
PART_BODIES = (
    {"messages": [message("user", parts(" Look ", "here"))]},
    {"messages": [message("system", parts("One word.")), USER]},
    {"messages": [message("system", parts("One word.", "Two.")), USER]},
    {"messages": [USER, message("assistant", parts("It is", "4.")), USER]},
)


def texts_of(body: dict) -> list:
    """Of all parts."""
    contents = [given["content"] for given in body["messages"]]
    return [part["text"] for content in contents if isinstance(content, list) for part in content]


def without_null(body: dict) -> dict:
    """A content of null as the empty text, as vLLM gives it: OpenAI's clients send null back with each answer that has calls alone."""
    messages = [{**given, "content": ""} if given.get("content", "") is None else given for given in body["messages"]]
    return {**body, "messages": messages}


def for_template(body: dict) -> dict:
    """Parts of a message as lines, as vLLM writes them for templates that read texts alone."""

    def joined(given: dict) -> dict:
        content = given.get("content")
        return {**given, "content": "\n".join(part["text"] for part in content)} if isinstance(content, list) else given

    return {**body, "messages": [joined(given) for given in body["messages"]]}


def as_sent(body: dict) -> str:
    """As a client sends it: the arguments of calls are a text of JSON."""

    def sent(given: dict) -> dict:
        if "tool_calls" not in given:
            return given
        calls = [
            {**made, "function": {**made["function"], "arguments": json.dumps(made["function"]["arguments"])}}
            for made in given["tool_calls"]
        ]
        return {**given, "tool_calls": calls}

    return json.dumps({"model": "m", **body, "messages": [sent(given) for given in body["messages"]]})
