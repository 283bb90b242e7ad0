import json
import time

import openai

from asked import CONTINUED, GREEDY_START, MODEL, TOLERANCE, OpenAiTest, fixture


class OpenAiClient(OpenAiTest):
    def complete(self, **options):
        return self.client.completions.create(model=MODEL, **{"prompt": CONTINUED, **options})

    def test_lists_the_model(self):
        self.assertEqual([model.id for model in self.client.models.list()], [MODEL])

    def test_completes_a_prompt(self):
        answer = self.complete(max_tokens=32, temperature=0)
        self.assertTrue(answer.choices[0].text.startswith(GREEDY_START), answer.choices[0].text)
        self.assertEqual(answer.usage.prompt_tokens + answer.usage.completion_tokens, answer.usage.total_tokens)

    def test_streams_the_text_of_the_whole_answer(self):
        whole = self.complete(max_tokens=16, temperature=0).choices[0].text
        chunks = list(self.complete(max_tokens=16, temperature=0, stream=True, stream_options={"include_usage": True}))
        self.assertEqual("".join(choice.text for chunk in chunks for choice in chunk.choices), whole)
        self.assertEqual(chunks[-1].usage.completion_tokens, 16)
        self.assertGreater(len(chunks), 4)

    def test_a_batch_has_a_result_for_each_row_in_their_order(self):
        body = {"model": MODEL, "max_tokens": 8, "seed": 3}
        bodies = [{**body, "prompt": f"{CONTINUED} {i}"} for i in range(20)]
        head = {"method": "POST", "url": "/v1/completions"}
        rows = [{"custom_id": f"row-{i}", **head, "body": body} for i, body in enumerate(bodies)]
        lines = "\n".join(json.dumps(row) for row in rows).encode()
        file = self.client.files.create(file=("rows.jsonl", lines), purpose="batch")
        self.assertEqual((file.purpose, file.bytes), ("batch", len(lines)))
        batch = self.client.batches.create(input_file_id=file.id, endpoint="/v1/completions", completion_window="24h")
        while batch.status in ("validating", "in_progress", "finalizing"):
            time.sleep(0.05)
            batch = self.client.batches.retrieve(batch.id)
        self.assertEqual((batch.status, batch.request_counts.completed, batch.request_counts.failed), ("completed", 20, 0))
        results = [json.loads(line) for line in self.client.files.content(batch.output_file_id).text.splitlines()]
        self.assertEqual([result["custom_id"] for result in results], [row["custom_id"] for row in rows])
        alone = self.complete(prompt=rows[7]["body"]["prompt"], max_tokens=8, seed=3)
        self.assertEqual(results[7]["response"]["body"]["choices"][0]["text"], alone.choices[0].text)
        self.assertIn(batch.id, [listed.id for listed in self.client.batches.list(limit=1)])

    def test_completes_several_prompts_several_times(self):
        answer = self.complete(prompt=[CONTINUED, "The fox"], n=2, max_tokens=4, seed=7)
        self.assertEqual([choice.index for choice in answer.choices], [0, 1, 2, 3])
        again = self.complete(prompt=[CONTINUED, "The fox"], n=2, max_tokens=4, seed=7)
        self.assertEqual([choice.text for choice in again.choices], [choice.text for choice in answer.choices])

    def test_prompt_logprobs_are_pytorchs(self):
        expected = fixture("prompt-logprobs")["prompts"]
        prompts = [entry["prompt"] for entry in expected]
        answer = self.complete(prompt=prompts, echo=True, logprobs=5, max_tokens=0)
        for choice, prompt, entry in zip(answer.choices, prompts, expected, strict=True):
            self.assertEqual(choice.text, prompt)
            self.assertEqual("".join(choice.logprobs.tokens), prompt)
            self.assertIsNone(choice.logprobs.token_logprobs[0])
            tokens = zip(choice.logprobs.token_logprobs, choice.logprobs.top_logprobs, entry["logprobs"], strict=True)
            for logprob, top, wanted in [*tokens][1:]:
                self.assertAlmostEqual(logprob, wanted["logprob"], delta=TOLERANCE)
                # The prompt's own token is added if it is not among the five.
                for value, best in zip(sorted(top.values(), reverse=True)[:5], wanted["top"], strict=True):
                    self.assertAlmostEqual(value, best["logprob"], delta=TOLERANCE)

    def test_reads_an_error_as_its_own_class(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.complete(max_tokens=-1)
        self.assertEqual(caught.exception.param, "max_tokens")
        with self.assertRaises(openai.NotFoundError):
            self.client.completions.create(model="gpt5", prompt="a")

    def test_a_chat_for_a_base_model_is_refused(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.chats.create(model=MODEL, messages=[{"role": "user", "content": CONTINUED}])
        self.assertEqual(caught.exception.code, "NO_CHAT_TEMPLATE")

    def test_a_prompt_beyond_the_context_is_context_length_exceeded(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.complete(prompt="word " * 600)
        self.assertEqual(caught.exception.code, "context_length_exceeded")
