"""inspect_ai's evaluations, with each of its providers for OpenAI's API."""

import tempfile

import inspect_ai
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import match

from asked import BASE, KEY, MODEL, OpenAiTest

PROMPTS = ("Hello", "Who are you?", "Tell me more", "Why?", "Go on", "The end")


class InspectAi(OpenAiTest):
    def answer(self, prompt):
        messages = [{"role": "user", "content": prompt}]
        [choice] = self.chats.create(model=MODEL, messages=messages, max_tokens=8, temperature=0).choices
        return choice.message.content

    def check_evaluation(self, model, answer_object):
        task = inspect_ai.Task(
            dataset=[Sample(input=prompt, target=self.answer(prompt)) for prompt in PROMPTS],
            scorer=match(location="exact"),
            config=GenerateConfig(max_tokens=8, temperature=0, max_retries=0),
        )
        model = get_model(model, base_url=BASE, api_key=KEY, memoize=False)
        with tempfile.TemporaryDirectory() as folder:
            [log] = inspect_ai.eval(task, model=model, log_dir=folder, display="none")
            self.assertEqual(log.status, "success", log.error)
            self.assertEqual(log.results.scores[0].metrics["accuracy"].value, 1)
            [call] = [event.call for event in log.samples[0].events if event.event == "model"]
        self.assertEqual(call.response["object"], answer_object)

    def test_evaluates_with_the_responses_api(self):
        self.check_evaluation(f"openai/{MODEL}", "response")

    def test_evaluates_with_chat_completions(self):
        self.check_evaluation(f"openai-api/tabserve/{MODEL}", "chat.completion")
