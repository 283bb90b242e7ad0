import json

import openai
from pydantic import BaseModel, Field

from asked import MODEL, OpenAiTest

CHAT = {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}]}
SAMPLED = {**CHAT, "temperature": 1.2, "max_tokens": 300}
WEATHER = {
    "type": "object",
    "properties": {"city": {"enum": ["Rome", "Oslo"]}, "days": {"type": "integer", "minimum": 1, "maximum": 9}},
    "required": ["city", "days"],
}
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "Looks.", "parameters": WEATHER}}]


class Person(BaseModel):
    name: str = Field(max_length=8)
    age: int = Field(ge=0, le=120)


class OpenAiTools(OpenAiTest):
    def check_weather(self, text):
        arguments = json.loads(text)
        self.assertEqual(set(arguments), {"city", "days"})
        self.assertIn(arguments["city"], ["Rome", "Oslo"])
        self.assertIn(arguments["days"], range(1, 10))

    def test_parses_an_answer_of_a_given_shape(self):
        for seed in range(3):
            answer = self.chats.parse(response_format=Person, seed=seed, **SAMPLED)
            self.assertIsInstance(answer.choices[0].message.parsed, Person)

    def test_streams_an_answer_of_a_given_shape(self):
        with self.chats.stream(response_format=Person, seed=1, **SAMPLED) as stream:
            events = [event.type for event in stream]
            self.assertIsInstance(stream.get_final_completion().choices[0].message.parsed, Person)
        self.assertGreater(events.count("content.delta"), 2)

    def test_calls_a_tool_and_tells_of_it(self):
        required = {"tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": False}
        [answer] = self.chats.create(seed=1, **required, **SAMPLED).choices
        self.assertEqual(answer.finish_reason, "tool_calls")
        [call] = answer.message.tool_calls
        self.check_weather(call.function.arguments)
        told = {"role": "tool", "tool_call_id": call.id, "content": "21"}
        messages = [*CHAT["messages"], answer.message.model_dump(exclude_none=True), told]
        second = self.chats.create(model=MODEL, messages=messages, tools=TOOLS, max_tokens=4)
        self.assertGreater(second.usage.prompt_tokens, 200)

    def test_streams_a_call(self):
        named = {"type": "function", "function": {"name": "weather"}}
        with self.chats.stream(tools=TOOLS, tool_choice=named, seed=2, **SAMPLED) as stream:
            pieces = [event for event in stream if event.type == "tool_calls.function.arguments.delta"]
            [call] = stream.get_final_completion().choices[0].message.tool_calls
        self.check_weather(call.function.arguments)
        self.assertEqual("".join(piece.arguments_delta for piece in pieces), call.function.arguments)

    def test_a_shape_that_cannot_be_enforced_is_a_bad_request(self):
        schema = {"type": "object", "properties": {"a": {"type": "number", "not": {"const": 3}}}}
        shape = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
        with self.assertRaises(openai.BadRequestError) as caught:
            self.chats.create(response_format=shape, **CHAT)
        self.assertEqual(caught.exception.code, "RESPONSE_FORMAT_UNSUPPORTED")
