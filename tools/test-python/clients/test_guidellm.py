"""GuideLLM, a serving benchmark, as its command line runs it."""

import os
import unittest

from asked import MODEL, URL, report_of

NUM_REQUESTS = 8
OUTPUT_TOKENS = 16


class GuideLlm(unittest.TestCase):
    def test_measures_concurrent_streams_without_an_error(self):
        report, _ = report_of(
            *("guidellm", "run", "--disable-console-interactive"),
            *("--backend", f"kind=openai_http,target={URL},model={MODEL},request_format=/v1/completions"),
            *("--profile", "kind=concurrent,streams=4", "--tokenizer", f"kind=hf_auto,model={os.environ['STORYTELLER']}"),
            *("--constraint", f"kind=max_requests,count={NUM_REQUESTS}"),
            *("--data", f"kind=synthetic_text,prompt_tokens=24,output_tokens={OUTPUT_TOKENS}"),
            *("--output", "kind=json,path=report.json"),
        )
        [benchmark] = report["benchmarks"]
        requests = benchmark["requests"]
        self.assertEqual((len(requests["successful"]), len(requests["errored"])), (NUM_REQUESTS, 0))
        for request in requests["successful"]:
            self.assertEqual(request["output_metrics"]["text_tokens"], OUTPUT_TOKENS)
