"""The programs and client lines of Ray's batching tutorials, on Ray Serve and on Tabserve, and Ray Serve LLM behind `--upstream`."""

import ast
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import openai
import requests
import tensorflow as tf
import yaml

from environments import ROOT
from servers import running, tabserve

PROGRAMS = ROOT / "deploy" / "ray-serve"
STORYTELLER = os.environ["STORYTELLER"]
# The tutorials' lines name it, so Ray and Tabserve take turns on its port.
URL = "http://localhost:8000"
HOUSES = json.loads((ROOT / "tools" / "reference" / "fixtures" / "house-price-reference.json").read_text())["houses"][:32]
TEXTS = ast.literal_eval(re.search(r"texts = (\[.*?\])", (PROGRAMS / "text_requests.py").read_text(), re.S).group(1))
BATCH_LINE = re.compile(r"Our input array has (?:length|shape): \(?(\d+)")
ROUNDS = 5
TIMEOUT_S = 900
BIN = Path(sys.executable).parent
FOLDER = Path(unittest.enterModuleContext(tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True)))
RAY_ENV = {
    # Ray 2.60 requires a token by default, and would store one in the home folder.
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(16),
    "RAY_USAGE_STATS_ENABLED": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    # With the default of 5 s, a busy machine's proxy is replaced before it is ready.
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "60",
    "PYTHONPATH": str(PROGRAMS),
}


def setUpModule():
    """A cluster whose replicas find in their folder what the tutorials name: `gpt2` and the house price model."""
    (FOLDER / "gpt2").symlink_to(STORYTELLER)
    write_keras_model(FOLDER / "house_price_model.h5")
    start = (BIN / "ray", "start", "--head", "--block", "--include-dashboard=false", "--node-ip-address=127.0.0.1", "--port=0")
    # Ray counts a core for each replica and each of a client's nine tasks. With two, they would run one after another.
    options = ("--num-cpus=12", "--object-store-memory=150000000", f"--temp-dir={FOLDER}/ray")
    cluster = unittest.enterModuleContext(running([*start, *options], r"--address='(.+?)'", env=RAY_ENV, cwd=FOLDER))
    RAY_ENV["RAY_ADDRESS"] = cluster.group(1)


def write_keras_model(target):
    layers = [tf.keras.layers.Dense(size, activation=name) for size, name in ((64, "relu"), (64, "relu"), (1, "exponential"))]
    model = tf.keras.Sequential([tf.keras.Input((8,)), *layers])
    graph = onnx.load(ROOT / "public" / "models" / "house-price" / "model.onnx").graph
    weights = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for layer, name in zip(layers, ["0", "2", "4"], strict=True):
        # The file keeps [out, in], Keras [in, out].
        layer.set_weights([weights[f"{name}.weight"].T, weights[f"{name}.bias"]])
    model.save(target)


@contextmanager
def serving(config):
    """Until the block ends. Requests wait for replicas, but not for routes."""
    routes = [application["route_prefix"] for application in yaml.safe_load(config.read_text())["applications"]]
    run = partial(running, [BIN / "serve", "run", config], "Submitted deploy config", env=RAY_ENV, cwd=FOLDER)
    with ExitStack() as stack:
        try:
            stack.enter_context(run())
        except RuntimeError:
            # Ray waits 60 s for its proxy, which a busy machine can exceed. The next run finds it.
            stack.enter_context(run())
        for _ in range(TIMEOUT_S):
            # Before there are any, the answer is a sentence.
            answer = requests.get(f"{URL}/-/routes").text
            if all(f'"{route}"' in answer for route in routes):
                break
            time.sleep(1)
        yield


def send(call):
    """The text of the answer, and how long it took in milliseconds."""
    begin = time.perf_counter()
    answer = requests.request(**call, timeout=TIMEOUT_S)
    answer.raise_for_status()
    return answer.text, (time.perf_counter() - begin) * 1000


class Tutorials:
    def run_client(self, program):
        env = {**os.environ, **RAY_ENV}
        done = subprocess.run([sys.executable, PROGRAMS / program], env=env, capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return ast.literal_eval(re.search(r"^Result (?:returned:|batch is) (.*)$", done.stdout, re.M).group(1))

    def measure(self, deployment, calls):
        """All at once, in rounds. Returns the answers of the last one."""
        send(calls[0])
        before = self.batches(deployment)
        with ThreadPoolExecutor(len(calls)) as pool:
            rounds = [[*pool.map(send, calls)] for _ in range(ROUNDS)]
        count, total = np.subtract(self.batches(deployment), before)
        p50, p95 = np.percentile([ms for answers in rounds for _, ms in answers], [50, 95])
        print(f"\n| {deployment} | {type(self).__name__} | {total / count:.1f} | {p50:.0f} | {p95:.0f} |", flush=True)
        self.assertGreater(total / count, 1)
        return [text for text, _ in rounds[-1]]

    def check_texts(self, texts, prompts=TEXTS):
        for text, prompt in zip(texts, prompts, strict=True):
            self.assertTrue(text.startswith(prompt) and len(text) > len(prompt), text)

    def check_prices(self, answers):
        prices = np.concatenate([np.ravel(json.loads(answer)["predictions"]) for answer in answers])
        np.testing.assert_allclose(prices, [house["price"] for house in HOUSES], rtol=1e-4)

    def test_the_line_of_curl_is_answered(self):
        text, _ = send({"method": "GET", "url": f"{URL}/?text=Once+upon+a+time"})
        self.assertTrue(text.startswith("Once upon a time"), text)

    def test_the_text_client_gets_all_its_texts(self):
        self.check_texts(self.run_client("text_requests.py"))

    def test_nine_prompts_at_once_are_continued_in_batches(self):
        self.check_texts(self.measure("text-generator", [{"method": "POST", "url": URL, "params": {"text": text}} for text in TEXTS]))

    def test_the_adders_client_gets_its_sums(self):
        self.assertEqual(self.run_client("adder_requests.py"), [*range(1, 10)])

    def test_nine_numbers_at_once_are_added_in_batches(self):
        answers = self.measure("adder", [{"method": "GET", "url": f"{URL}/adder?number={number}"} for number in range(9)])
        self.assertEqual([int(answer) for answer in answers], [*range(1, 10)])

    def test_32_houses_at_once_have_the_models_prices(self):
        url = f"{URL}/house-price"
        calls = [{"method": "POST", "url": url, "json": {"features": house["features"]}} for house in HOUSES]
        self.check_prices(self.measure("house-price", calls))


class OnRayServe(Tutorials, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(serving(PROGRAMS / "serve.tutorials.yaml"))

    def batches(self, _):
        """How many there were so far, and how large all together, by what the programs print."""
        logs = FOLDER.glob("ray/session_latest/logs/worker-*.out")
        sizes = [int(size) for log in logs for size in BATCH_LINE.findall(log.read_text(errors="replace"))]
        return len(sizes), sum(sizes)

    def test_a_handle_gets_the_same(self):
        self.check_texts(self.run_client("text_handle.py"), [TEXTS[0], TEXTS[1], TEXTS[7]])
        self.assertEqual(self.run_client("adder_handle.py"), [*range(1, 10)])

    def test_the_predictor_without_batches_takes_lists_of_houses(self):
        body = {"features": [house["features"] for house in HOUSES]}
        self.check_prices([send({"method": "POST", "url": f"{URL}/house-price-unbatched", "json": body})[0]])


class OnTabserve(Tutorials, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(tabserve(port=8000))

    def batches(self, deployment):
        """A text generator's batches are its steps, and their sizes are counted in tokens."""
        is_text = deployment == "text-generator"
        name, label = ("vllm:iteration_tokens_total", "") if is_text else ("serve_actual_batch_size", f'deployment="{deployment}"')
        lines = [line for line in requests.get(f"{URL}/metrics").text.splitlines() if label in line]
        return [sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"{name}_{key}")) for key in ("count", "sum")]


class RayServeLlm(unittest.TestCase):
    """vLLM on CPUs as the upstream of one Tabserve, beside another that runs the same model itself."""

    @classmethod
    def setUpClass(cls):
        config = yaml.safe_load((PROGRAMS / "serve.llm.yaml").read_text())
        [llm] = config["applications"][0]["args"]["llm_configs"]
        llm["model_loading_config"] = {"model_id": "storyteller", "model_source": STORYTELLER}
        llm["accelerator_config"] = {"kind": "cpu"}
        llm["engine_kwargs"] |= {"dtype": "float32", "enforce_eager": True}
        (FOLDER / "serve.llm.yaml").write_text(yaml.safe_dump(config))
        cls.enterClassContext(serving(FOLDER / "serve.llm.yaml"))
        send({"method": "GET", "url": f"{URL}/v1/models"})
        cls.upstream = cls.enterClassContext(tabserve("--upstream", URL))
        cls.alone = cls.enterClassContext(tabserve())

    def test_the_page_has_vllms_texts_which_are_its_own_models(self):
        for text in TEXTS:
            params = {"text": text, "temperature": 0, "maxNewTokens": 32}
            by_vllm, by_tab = (send({"method": "GET", "url": url, "params": params})[0] for url in (self.upstream, self.alone))
            self.assertEqual(by_vllm, by_tab)

    def test_a_client_of_the_bridge_gets_vllms_answer(self):
        asked = {"model": "storyteller", "prompt": TEXTS[:2], "max_tokens": 8, "temperature": 0, "logprobs": 2, "stop": ["."]}
        clients = [openai.OpenAI(base_url=f"{url}/v1", api_key="none") for url in (self.upstream, URL)]
        by_bridge, by_ray = (client.completions.create(**asked).choices for client in clients)
        self.assertEqual(by_bridge, by_ray)
        self.assertEqual(len(by_ray), 2)
