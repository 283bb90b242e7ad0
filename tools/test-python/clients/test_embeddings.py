import math

import chromadb
import openai
import tiktoken
from chromadb.utils.embedding_functions import OpenAIEmbeddingFunction
from langchain_openai import OpenAIEmbeddings
from llama_index.embeddings.openai_like import OpenAILikeEmbedding

from asked import BASE, KEY, MODEL, TOLERANCE, OpenAiTest, fixture

REFERENCE = fixture("encoders")[MODEL]
# The longest text is longer than the model reads.
SHORT = [pair for pair in zip(REFERENCE["texts"], REFERENCE["embeddings"], strict=True) if len(pair[0]) < 200]
TEXTS, VECTORS = ([*column] for column in zip(*SHORT))


class Embeddings(OpenAiTest):
    def check(self, vectors, expected=VECTORS):
        self.assertEqual(len(vectors), len(expected))
        for vector, wanted in zip(vectors, expected):
            self.assertLess(math.dist(vector, wanted), TOLERANCE)

    def test_openai_embeds_texts_in_order(self):
        answer = self.client.embeddings.create(model=MODEL, input=TEXTS)
        self.check([item.embedding for item in answer.data])
        self.assertEqual(answer.usage.prompt_tokens, answer.usage.total_tokens)

    def test_openai_takes_floats_and_fewer_dimensions(self):
        answer = self.client.embeddings.create(model=MODEL, input=TEXTS[0], dimensions=8, encoding_format="float")
        vector = answer.data[0].embedding
        self.assertEqual(len(vector), 8)
        self.assertAlmostEqual(math.hypot(*vector), 1, places=5)

    def test_openai_names_what_is_wrong(self):
        with self.assertRaises(openai.BadRequestError) as raised:
            self.client.embeddings.create(model=MODEL, input=["fine", ""])
        self.assertEqual(raised.exception.code, "EMPTY_PROMPT")
        with self.assertRaises(openai.NotFoundError):
            self.client.embeddings.create(model="another", input=TEXTS)

    def test_langchain_embeds_documents_and_a_query(self):
        model = OpenAIEmbeddings(base_url=BASE, api_key=KEY, model=MODEL, check_embedding_ctx_length=False)
        self.check(model.embed_documents(TEXTS))
        self.check([model.embed_query(TEXTS[0])], VECTORS[:1])

    def test_langchain_embeds_the_token_ids_that_it_sends_by_default(self):
        # Its own encoding would be downloaded.
        bytes_alone = {bytes([byte]): byte for byte in range(256)}
        encoding = tiktoken.Encoding("cl100k_base", pat_str=r"[\s\S]+", mergeable_ranks=bytes_alone, special_tokens={})
        tiktoken.registry.ENCODINGS["cl100k_base"] = encoding
        self.addCleanup(tiktoken.registry.ENCODINGS.pop, "cl100k_base")
        model = OpenAIEmbeddings(base_url=BASE, api_key=KEY, model=MODEL)
        answer = self.client.embeddings.create(model=MODEL, input=[list(b"abc"), list(b"cab ab")])
        self.check(model.embed_documents(["abc", "cab ab"]), [item.embedding for item in answer.data])

    def test_llama_index_embeds_texts_and_a_query(self):
        model = OpenAILikeEmbedding(model_name=MODEL, api_base=BASE, api_key=KEY)
        self.check(model.get_text_embedding_batch(TEXTS))
        self.check([model.get_query_embedding(TEXTS[0].strip())], VECTORS[:1])

    def test_chroma_finds_the_nearest_text(self):
        embedder = OpenAIEmbeddingFunction(api_key=KEY, api_base=BASE, model_name=MODEL)
        collection = chromadb.EphemeralClient().create_collection("texts", embedding_function=embedder)
        collection.add(ids=[str(at) for at in range(len(TEXTS))], documents=TEXTS)
        found = collection.query(query_texts=[TEXTS[2]], n_results=2, include=["distances"])
        self.assertEqual(found["ids"][0][0], "2")
        self.assertLess(found["distances"][0][0], TOLERANCE)
