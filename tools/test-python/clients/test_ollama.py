import unittest

import ollama

from asked import MODEL, URL

HELLO = [{"role": "user", "content": "Hello"}]


def weather(city: str, days: int) -> str:
    """Looks.

    Args:
        city: Where.
        days: How many.
    """
    return f"{city} {days}"


class Ollama(unittest.TestCase):
    def setUp(self):
        self.client = ollama.Client(host=URL)

    def chat(self, **given):
        options = {"temperature": 0, "num_predict": 16, **given.pop("options", {})}
        return self.client.chat(model=MODEL, messages=given.pop("messages", HELLO), options=options, **given)

    def test_lists_and_shows_the_model(self):
        self.assertIn(MODEL, [model.model for model in self.client.list().models])
        shown = self.client.show(MODEL)
        self.assertIn("tools", shown.capabilities)
        self.assertGreater(shown.modelinfo["tabserve.context_length"], 0)

    def test_streams_the_text_that_it_answers_at_once(self):
        whole = self.chat()
        pieces = list(self.chat(stream=True))
        self.assertEqual("".join(piece.message.content for piece in pieces), whole.message.content)
        self.assertEqual((whole.eval_count, pieces[-1].eval_count), (16, 16))
        self.assertEqual((whole.done_reason, pieces[-1].done_reason), ("length", "length"))

    def test_calls_a_function_of_python_and_is_told_of_it(self):
        # Without a required call, a model of random weights rarely makes one.
        call = {"function": {"name": "weather", "arguments": {"city": "Rome", "days": 2}}}
        chat = [
            *HELLO,
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_name": "weather", "content": weather("Rome", 2)},
        ]
        answer = self.chat(messages=chat, tools=[weather])
        self.assertGreater(answer.prompt_eval_count, self.chat(messages=chat).prompt_eval_count)

    def test_answers_in_a_given_shape(self):
        shape = {"type": "object", "properties": {"city": {"enum": ["Rome", "Oslo"]}}, "required": ["city"]}
        answer = self.chat(format=shape, options={"num_predict": 64})
        self.assertRegex(answer.message.content, r'^\{\s*"city"\s*:\s*"(Rome|Oslo)"\s*\}$')

    def test_generates_from_a_prompt(self):
        options = {"temperature": 0, "num_predict": 4}
        answer = self.client.generate(model=MODEL, prompt="Hello", options=options)
        self.assertEqual(answer.response, self.chat(options=options).message.content)

    def test_names_what_is_wrong(self):
        with self.assertRaises(ollama.ResponseError) as raised:
            self.chat(options={"mirostat": 2})
        self.assertEqual(raised.exception.status_code, 400)
        self.assertIn("options.mirostat", raised.exception.error)
        with self.assertRaises(ollama.ResponseError) as raised:
            self.client.chat(model="another", messages=HELLO)
        self.assertEqual(raised.exception.status_code, 404)
