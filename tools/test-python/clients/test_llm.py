"""llm's command, which talks to any endpoint."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from asked import BASE, MODEL, OpenAiTest

SYSTEM, PROMPT = "Be brief.", "Hello"


def ask(*options):
    command = [Path(sys.executable).with_name("llm"), "openai", "endpoint", BASE, PROMPT, "-m", MODEL, *options]
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(command, env={**os.environ, "LLM_USER_PATH": folder}, capture_output=True, text=True)


class Llm(OpenAiTest):
    def check_answer(self, *options, **expected_with):
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": PROMPT}]
        answer = self.chats.create(model=MODEL, messages=messages, max_tokens=12, temperature=0, extra_body=expected_with)
        done = ask("-s", SYSTEM, "-o", "max_tokens", "12", "-o", "temperature", "0", *options)
        expected = answer.choices[0].message.content.strip()
        self.assertEqual((done.returncode, done.stdout.strip()), (0, expected), done.stderr)

    def test_chats(self):
        self.check_answer("--no-stream")
        self.check_answer()

    def test_chats_with_the_responses_api(self):
        self.check_answer("--responses", "--no-stream")
        self.check_answer("--responses")

    def test_asks_for_no_reasoning(self):
        without = {"chat_template_kwargs": {"enable_thinking": False}}
        options = ("-o", "reasoning_effort", "none", "-o", "verbosity", "medium")
        self.check_answer(*options, **without)
        self.check_answer(*options, "--responses", **without)

    def test_shows_the_way_out_of_an_option(self):
        done = ask("--responses", "-o", "max_tokens", "-5")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "max_output_tokens.*an integer >= ")
