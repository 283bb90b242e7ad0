"""The client lines of the tutorials, with urllib in place of requests.

Reads the texts and houses as JSON from standard input, and prints the answers as JSON. The text and the
adder queries run in parallel, as Ray's remote tasks do.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode
from urllib.request import Request, urlopen

base = sys.argv[1]
given = json.load(sys.stdin)


def answer_to(request):
    with urlopen(request, timeout=120) as response:
        return response.read().decode()


def send_text(text):
    # requests.post("http://localhost:8000/", params={"text": text})
    return answer_to(Request(f"{base}/?{urlencode({'text': text})}", method="POST"))


def send_number(number):
    # requests.get("http://localhost:8000/adder?number={}".format(number))
    return int(answer_to("{}/adder?number={}".format(base, number)))


def send_houses(features):
    # requests.post("http://localhost:8000/house-price", json={"features": features})
    body = json.dumps({"features": features}).encode()
    headers = {"Content-Type": "application/json"}
    return json.loads(answer_to(Request(f"{base}/house-price", data=body, headers=headers)))


def send_form(text):
    # requests.post("http://localhost:8000/", data={"text": text})
    return answer_to(Request(f"{base}/", data=urlencode({"text": text}).encode()))


with ThreadPoolExecutor(max_workers=9) as pool:
    texts = list(pool.map(send_text, given["texts"]))
    numbers = list(pool.map(send_number, range(9)))

print(
    json.dumps(
        {
            "texts": texts,
            "numbers": numbers,
            "houses": send_houses(given["houses"]),
            "form": send_form(given["texts"][0]),
        }
    )
)
