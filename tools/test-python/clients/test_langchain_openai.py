import unittest

from langchain_openai import OpenAI

from asked import BASE, CONTINUED, GREEDY_START, KEY, MODEL


class LangChain(unittest.TestCase):
    def setUp(self):
        self.model = OpenAI(base_url=BASE, api_key=KEY, model=MODEL, temperature=0, max_tokens=24)

    def test_invokes(self):
        self.assertTrue(self.model.invoke(CONTINUED).startswith(GREEDY_START))

    def test_streams_the_text_of_the_whole_answer(self):
        self.assertEqual("".join(self.model.stream(CONTINUED)), self.model.invoke(CONTINUED))

    def test_generates_a_batch_and_counts_its_tokens(self):
        answer = self.model.generate([CONTINUED, "The fox"])
        self.assertEqual(len(answer.generations), 2)
        self.assertTrue(answer.generations[0][0].text.startswith(GREEDY_START))
        usage = answer.llm_output["token_usage"]
        self.assertEqual(usage["prompt_tokens"] + usage["completion_tokens"], usage["total_tokens"])

    def test_ends_at_a_stop_string(self):
        self.assertEqual(self.model.invoke(CONTINUED, stop=[" without"]), " there was a village")
