"""`gpt2.py` with the page's own model, which needs no hub."""

import os

from gpt2 import BatchTextGenerator

generator = BatchTextGenerator.bind("text-generation", os.environ["STORYTELLER"])
