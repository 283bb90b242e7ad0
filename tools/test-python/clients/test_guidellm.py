"""GuideLLM, a serving benchmark, as its command line runs it."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from asked import MODEL, URL

FOLDER = os.environ["STORYTELLER"]
NUM_REQUESTS = 8
OUTPUT_TOKENS = 16


class GuideLlm(unittest.TestCase):
    def test_measures_concurrent_streams_without_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            done = subprocess.run(
                [
                    *(Path(sys.executable).parent / "guidellm", "run", "--disable-console-interactive"),
                    *("--backend", f"kind=openai_http,target={URL},model={MODEL},request_format=/v1/completions"),
                    *("--profile", "kind=concurrent,streams=4", "--tokenizer", f"kind=hf_auto,model={FOLDER}"),
                    *("--constraint", f"kind=max_requests,count={NUM_REQUESTS}"),
                    *("--data", f"kind=synthetic_text,prompt_tokens=24,output_tokens={OUTPUT_TOKENS}"),
                    *("--output", f"kind=json,path={report}"),
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=600,
            )
            self.assertEqual(done.returncode, 0, done.stdout[-3000:])
            [benchmark] = json.loads(report.read_text())["benchmarks"]
        requests = benchmark["requests"]
        self.assertEqual((len(requests["successful"]), len(requests["errored"])), (NUM_REQUESTS, 0))
        for request in requests["successful"]:
            self.assertEqual(request["output_metrics"]["text_tokens"], OUTPUT_TOKENS)
