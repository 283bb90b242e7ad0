import contextlib
import io
import re
import unittest
from pathlib import Path

from asked import URL

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r"^```python python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Documents(unittest.TestCase):
    def test_their_code_prints_an_answer(self):
        blocks = [(path, code) for path in ROOT.glob("docs/*.md") for code in BLOCK.findall(path.read_text())]
        self.assertTrue(blocks)
        for path, code in blocks:
            with self.subTest(path.name), contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(code.replace("http://localhost:8000", URL), {})
            self.assertRegex(printed.getvalue(), r"\w+ \w+")

