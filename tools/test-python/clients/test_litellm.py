import unittest

import litellm

from asked import BASE, CONTINUED, GREEDY_START, KEY, MODEL

litellm.telemetry = False


def complete(**options):
    server = {"model": f"text-completion-openai/{MODEL}", "api_base": BASE, "api_key": KEY}
    return litellm.text_completion(**server, **{"prompt": CONTINUED, "max_tokens": 24, "temperature": 0, **options})


class LiteLlm(unittest.TestCase):
    def test_completes_a_prompt(self):
        answer = complete()
        self.assertTrue(answer.choices[0].text.startswith(GREEDY_START), answer.choices[0].text)
        self.assertGreater(answer.usage.completion_tokens, 0)

    def test_streams_the_text_of_the_whole_answer(self):
        pieces = [chunk.choices[0].text or "" for chunk in complete(stream=True)]
        self.assertEqual("".join(pieces), complete().choices[0].text)
        self.assertGreater(len(pieces), 4)

    def test_reads_an_error_as_its_own_class(self):
        with self.assertRaises(litellm.BadRequestError):
            complete(max_tokens=-1)
