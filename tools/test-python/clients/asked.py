"""The server's address, its model, and PyTorch's results for the prompts. The command that runs these tests sets them."""

import json
import os

URL = os.environ["TABSERVE_URL"]
MODEL = os.environ["MODEL"]
REFERENCE = json.loads(os.environ["REFERENCE"])
TOLERANCE = 1e-3
# The bridge needs no key, but the clients do not start without one.
KEY = "none"
CONTINUED = "Once upon a time,"
GREEDY_START = " there was a village without water."
