import math
import unittest

import ollama

from asked import MODEL, TOLERANCE, URL, fixture

REFERENCE = fixture("encoders")[MODEL]
TEXTS, VECTORS = REFERENCE["texts"][:3], REFERENCE["embeddings"][:3]


class OllamaEmbeddings(unittest.TestCase):
    def setUp(self):
        self.client = ollama.Client(host=URL)

    def test_embeds_texts_in_order(self):
        answer = self.client.embed(model=MODEL, input=TEXTS)
        for vector, wanted in zip(answer.embeddings, VECTORS, strict=True):
            self.assertLess(math.dist(vector, wanted), TOLERANCE)

    def test_embeds_one_text_by_the_older_call(self):
        vector = self.client.embeddings(model=MODEL, prompt=TEXTS[0]).embedding
        self.assertLess(math.dist(vector, VECTORS[0]), TOLERANCE)

    def test_shows_what_the_model_is_for(self):
        self.assertEqual(self.client.show(MODEL).capabilities, ["embedding"])
