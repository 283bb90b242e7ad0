import unittest

import anthropic

from asked import KEY, MODEL, URL

HELLO = [{"role": "user", "content": "Hello"}]
WEATHER = {
    "type": "object",
    "properties": {"city": {"enum": ["Rome", "Oslo"]}, "days": {"type": "integer", "minimum": 1, "maximum": 9}},
    "required": ["city", "days"],
}
TOOLS = [{"name": "weather", "description": "Looks.", "input_schema": WEATHER}]


class Anthropic(unittest.TestCase):
    def setUp(self):
        client = anthropic.Anthropic(base_url=URL, api_key=KEY)
        self.addCleanup(client.close)
        self.messages = client.messages

    def ask(self, **options):
        return {"model": MODEL, "max_tokens": 300, "messages": HELLO, **options}

    def ask_greedily(self, **options):
        # Its newest models take no temperature, so the client has no name for it.
        return self.ask(extra_body={"temperature": 0}, **options)

    def check_weather(self, call):
        self.assertEqual((call.type, call.name), ("tool_use", "weather"))
        self.assertIn(call.input["city"], ["Rome", "Oslo"])
        self.assertIn(call.input["days"], range(1, 10))

    def test_answers_a_message_in_blocks(self):
        answer = self.messages.create(**self.ask_greedily(max_tokens=4, system="Be brief."))
        self.assertEqual([block.type for block in answer.content], ["text"])
        self.assertEqual((answer.stop_reason, answer.usage.output_tokens), ("max_tokens", 4))

    def test_streams_the_text_that_it_answers_at_once(self):
        asked = self.ask_greedily(max_tokens=16)
        with self.messages.stream(**asked) as stream:
            streamed = "".join(stream.text_stream)
            final = stream.get_final_message()
        self.assertEqual(streamed, self.messages.create(**asked).content[0].text)
        self.assertEqual((streamed, final.usage.output_tokens), (final.content[0].text, 16))

    def test_calls_a_tool_and_is_told_of_it(self):
        asked = self.ask(tools=TOOLS, tool_choice={"type": "any", "disable_parallel_tool_use": True})
        answer = self.messages.create(**asked)
        self.assertEqual(answer.stop_reason, "tool_use")
        call = answer.content[-1]
        self.check_weather(call)
        told = {"type": "tool_result", "tool_use_id": call.id, "content": "21"}
        chat = [*HELLO, {"role": "assistant", "content": answer.content}, {"role": "user", "content": [told]}]
        second = self.messages.create(**self.ask(messages=chat, tools=TOOLS, max_tokens=4))
        self.assertGreater(second.usage.input_tokens + second.usage.cache_read_input_tokens, 200)

    def test_streams_a_call(self):
        with self.messages.stream(**self.ask(tools=TOOLS, tool_choice={"type": "tool", "name": "weather"})) as stream:
            kinds = [event.type for event in stream]
            self.check_weather(stream.get_final_message().content[-1])
        self.assertIn("input_json", kinds)

    def test_counts_the_tokens_of_a_message(self):
        asked = {"model": MODEL, "messages": HELLO}
        counted = self.messages.count_tokens(**asked).input_tokens
        usage = self.messages.create(**self.ask(max_tokens=1)).usage
        self.assertEqual(counted, usage.input_tokens + usage.cache_read_input_tokens)

    def test_names_what_is_wrong(self):
        picture = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
        with self.assertRaises(anthropic.BadRequestError) as raised:
            self.messages.create(**self.ask(messages=[{"role": "user", "content": [picture]}]))
        self.assertIn("messages[0].content[0]", str(raised.exception))
        with self.assertRaises(anthropic.NotFoundError):
            self.messages.create(**self.ask(model="another"))
