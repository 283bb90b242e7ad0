import re
import subprocess
import sys
import unittest
from pathlib import Path

from asked import URL

BLOCK = re.compile(r"^```python python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Documents(unittest.TestCase):
    def test_their_code_prints_an_answer(self):
        blocks = [code for path in Path(__file__).parents[3].glob("docs/*.md") for code in BLOCK.findall(path.read_text())]
        self.assertTrue(blocks)
        for code in blocks:
            program = code.replace("http://localhost:8000", URL)
            self.assertRegex(subprocess.check_output([sys.executable, "-c", program], text=True), r"\w+ \w+")
