"""The HTTP routes on Ray Serve, over a model that counts."""

import asyncio
import itertools
import json
import socket
import types
import unittest

import httpx
import ray
from ray import serve

from completion_request import InvalidRequest
from counting_app import BREAKS, FAILS, FEATURES, GATE, WAITS, Gate, application
from small_deployments import check_house
from vllm_generator import to_chunk

TIMEOUT_S = 120


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def setUpModule():
    global url
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    # Joins the cluster of RAY_ADDRESS, or starts one.
    ray.init(log_to_driver=False)
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    serve.run(application(), name="counting", route_prefix="/")


def tearDownModule():
    serve.shutdown()
    ray.shutdown()


def events_of(body):
    *events, done, _ = body.split("\n\n")
    assert done == "data: [DONE]"
    return [json.loads(event.removeprefix("data: ")) for event in events]


class Routes(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.client = httpx.AsyncClient(base_url=url, timeout=TIMEOUT_S)

    async def asyncTearDown(self):
        await self.client.aclose()

    IDS = {"return_token_ids": True, "return_tokens_as_token_ids": True}

    async def complete(self, **body):
        return await self.client.post("/v1/completions", json={"prompt": "ab", "max_tokens": 3, **body})

    async def test_the_tutorials_line_answers_with_the_text_prompt_first(self):
        answer = await self.client.get("/?text=abc&maxNewTokens=4&stop=g")
        self.assertEqual((answer.status_code, answer.text), (200, "abcdef"))

    async def test_nine_prompts_at_once_share_batches_of_four(self):
        generator = serve.get_deployment_handle("CountingGenerator", "counting")
        await generator.take_batch_sizes.remote()
        answers = await asyncio.gather(*(self.client.get(f"/?text={c}&maxNewTokens=2") for c in "abcdefghi"))
        self.assertEqual([a.text for a in answers], ["abc", "bcd", "cde", "def", "efg", "fgh", "ghi", "hij", "ijk"])
        # Two tokens for each batch.
        self.assertEqual(await generator.take_batch_sizes.remote(), [4, 4, 4, 4, 1, 1])

    async def test_a_completion_has_all_choices_and_what_was_used(self):
        body = (await self.complete(prompt=["ab", "klm"], n=2, **self.IDS, logprobs=1)).json()
        self.assertEqual([c["text"] for c in body["choices"]], ["cde", "cde", "nop", "nop"])
        self.assertEqual(body["choices"][2]["token_ids"], [13, 14, 15])
        self.assertEqual(body["choices"][0]["logprobs"]["tokens"], ["token_id:2", "token_id:3", "token_id:4"])
        self.assertEqual(list(body["choices"][0]["logprobs"]["top_logprobs"][0]), ["token_id:2"])
        self.assertEqual(body["usage"], {"prompt_tokens": 5, "completion_tokens": 12, "total_tokens": 17})
        self.assertEqual({c["finish_reason"] for c in body["choices"]}, {"length"})

    async def test_a_stream_brings_the_same_piece_by_piece(self):
        answer = await self.complete(stream=True, stream_options={"include_usage": True}, echo=True)
        self.assertEqual(answer.headers["content-type"], "text/event-stream; charset=utf-8")
        *chunks, usage = events_of(answer.text)
        self.assertEqual([c["choices"][0]["text"] for c in chunks], ["ab", "c", "d", "e"])
        self.assertEqual(chunks[-1]["choices"][0]["finish_reason"], "length")
        self.assertEqual(usage["usage"]["total_tokens"], 5)
        self.assertEqual(len({c["id"] for c in chunks}), 1)

    async def test_token_ids_are_a_prompt_too(self):
        self.assertEqual((await self.complete(prompt=[0, 1])).json()["choices"][0]["text"], "cde")

    async def test_what_is_wrong_has_a_status_and_a_name_in_a_stream_too(self):
        cases = [
            ({"temprature": 1}, 400, "unknown_option", "temprature"),
            ({"temperature": -1}, 400, "invalid_option", "temperature"),
            ({"prompt": "a" * 40, "stream": True}, 400, "invalid_option", "prompt"),
            ({"prompt": [99]}, 400, "invalid_option", "prompt"),
            ({"prompt": ""}, 400, "invalid_option", "prompt"),
            ({"model": "gpt5"}, 404, "model_not_found", "model"),
            ({"logprobs": 1}, 400, "invalid_option", "logprobs"),
            ({"stream_options": {}}, 400, "invalid_option", "stream_options"),
        ]
        for body, status, code, param in cases:
            answer = await self.complete(**body)
            error = answer.json()["error"]
            self.assertEqual((answer.status_code, error["code"], error["param"]), (status, code, param), body)
        answer = await self.client.post("/v1/completions", content=b"{")
        self.assertEqual(answer.json()["error"]["code"], "invalid_json")

    async def test_a_full_queue_is_a_429_that_says_when_to_come_back(self):
        gate = Gate.options(**GATE).remote()
        full = application(max_ongoing_requests=1, max_queued_requests=1)
        serve.run(full, name="full", route_prefix="/full")
        self.addCleanup(serve.delete, "full")
        body = {"prompt": WAITS, "max_tokens": 2, "stream": True}
        async with self.client.stream("POST", "/full/v1/completions", json=body) as running:
            events = running.aiter_lines()
            await anext(events)
            others = [asyncio.create_task(self.client.post("/full/v1/completions", json=body)) for _ in range(4)]
            # One of them waits for the replica, and the queue holds no second one.
            refused = [await done for done in itertools.islice(asyncio.as_completed(others), 3)]
            for answer in refused:
                self.assertEqual((answer.status_code, answer.headers["retry-after"]), (429, "1"))
                self.assertEqual(answer.json()["error"]["code"], "back_pressure")
            await gate.open.remote()
        answers = await asyncio.gather(*others)
        self.assertEqual(sorted(answer.status_code for answer in answers), [200, 429, 429, 429])

    async def test_a_failure_says_nothing_of_its_stack(self):
        for stream in (False, True):
            answer = await self.complete(prompt=FAILS, stream=stream)
            self.assertEqual(answer.status_code, 500)
            self.assertNotIn("secret", answer.text)

    async def test_a_failure_in_the_middle_of_a_stream_is_an_event_without_its_stack(self):
        answer = await self.complete(prompt=BREAKS, stream=True)
        *_, last = [json.loads(event.removeprefix("data: ")) for event in answer.text.split("\n\n") if event]
        self.assertEqual((answer.status_code, last["error"]["code"]), (200, "internal_error"))
        self.assertNotIn("secret", answer.text)

    async def test_what_there_is_nothing_for_is_told_in_the_same_shape(self):
        for method, path, status, code in [
            ("GET", "/v1/nothing", 404, "not_found"),
            ("POST", "/adder", 405, "method_not_allowed"),
        ]:
            answer = await self.client.request(method, path)
            self.assertEqual((answer.status_code, answer.json()["error"]["code"]), (status, code))
        self.assertEqual(answer.headers["allow"], "GET")

    async def test_an_option_is_refused_by_the_name_that_it_was_given(self):
        for path, param in [("/?text=a&maxNewTokens=0", "maxNewTokens"), ("/adder?number=1&nubmer=2", "nubmer")]:
            answer = await self.client.get(path)
            error = answer.json()["error"]
            self.assertEqual((answer.status_code, error["param"]), (400, param))
            self.assertIn(f"`{param}`", error["message"])
        refused = await self.client.post("/house-price", json={"features": [100, 2], "currency": "euro"})
        self.assertEqual(refused.json()["error"]["param"], "currency")

    async def test_the_adder_and_the_house_price_answer_in_batches(self):
        answers = await asyncio.gather(*(self.client.get(f"/adder?number={n}") for n in range(4)))
        self.assertEqual([a.json() for a in answers], [1, 2, 3, 4])
        self.assertEqual((await self.client.get("/adder?number=nan")).status_code, 400)
        prices = await self.client.post("/house-price", json={"features": [[100, 2], [50, 1]]})
        self.assertEqual(prices.json(), {"predictions": [102.0, 51.0]})
        refused = await self.client.post("/house-price", json={"features": [10, 2]})
        self.assertEqual((refused.status_code, refused.json()["error"]["param"]), (400, "area"))

    async def test_the_model_names_itself_and_its_context(self):
        [card] = (await self.client.get("/v1/models")).json()["data"]
        self.assertEqual((card["id"], card["max_model_len"], card["owned_by"]), ("counting", 32, "tabserve"))
        self.assertEqual((await self.client.get("/v1/models/counting")).status_code, 200)
        self.assertEqual((await self.client.get("/v1/models/a/b")).status_code, 404)
        self.assertEqual((await self.client.get("/healthz")).json(), {"status": "ok", "model": "counting"})


class Pieces(unittest.TestCase):
    def test_an_output_of_vllm_becomes_a_chunk(self):
        entry = lambda value: types.SimpleNamespace(logprob=value)
        part = types.SimpleNamespace(
            text=" a", token_ids=[7], finish_reason=None, logprobs=[{7: entry(-2.0), 9: entry(-0.5)}]
        )
        chunk = to_chunk(types.SimpleNamespace(outputs=[part], prompt_token_ids=[1, 2]), 1)
        self.assertEqual((chunk.text, chunk.token_ids, chunk.num_prompt_tokens), (" a", (7,), 2))
        self.assertEqual(chunk.logprobs[0].top, ((9, -0.5),))
        self.assertEqual(to_chunk(types.SimpleNamespace(outputs=[part], prompt_token_ids=None), None).logprobs, ())

    def test_a_house_has_to_be_one_that_the_model_knows(self):
        self.assertEqual(check_house([30, 7], FEATURES), [30.0, 7.0])
        for house in ([30], [29, 3], [True, 3], "house", [30, None]):
            with self.assertRaises(InvalidRequest):
                check_house(house, FEATURES)


if __name__ == "__main__":
    unittest.main()
