"""A retrieval chain of LangChain on one server, which chats, embeds and ranks with models of the disk."""

import subprocess
import tempfile
import time
import unittest
from contextlib import ExitStack
from pathlib import Path

import httpx
import openai
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from servers import NODE, tabserve

KEY = "none"
CHAT, EMBEDDER, RERANKER = MODELS = (
    "local/SmolLM2-135M-Instruct.Q4_1",
    "local/all-MiniLM-L6-v2",
    "local/cross-encoder",
)
QUESTION = "In which year was the lighthouse of Vell built?"
FACT = "The lighthouse of Vell was built in 1873 by the engineer Mara Osk."
TEXTS = [
    "The bakery in Orm sells rye bread on Mondays and plum cake on Fridays.",
    "Kestrels hover over the fields in search of voles.",
    FACT,
    "The night ferry to Sund takes eleven hours and has 40 cabins.",
    "A tab that is hidden for long is slowed down by the browser.",
    "Copper turns green where rain falls on it for many years.",
]
PROMPT = ChatPromptTemplate.from_messages(
    [("system", "Answer the question with the context."), ("user", "Context: {context}\n\nQuestion: {question}")]
)


class RetrievalChain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = ExitStack()
        cls.addClassCleanup(stack.close)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        command = [NODE, Path(__file__).with_name("rag-models.ts"), folder]
        paths = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        options = zip(("--model", "--embedder", "--reranker"), paths, strict=True)
        cls.base = stack.enter_context(tabserve(*(part for option in options for part in option))) + "/v1"
        client = stack.enter_context(openai.OpenAI(base_url=cls.base, api_key=KEY))
        deadline = time.monotonic() + 300
        while {model.id for model in client.models.list()} != set(MODELS):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{client.models.list()} are not {MODELS}")
            time.sleep(1)

    def rank(self, found):
        """The texts that the vector store has found, in the reranker's order."""
        texts = [document.page_content for document in found]
        body = {"model": RERANKER, "query": QUESTION, "documents": texts}
        results = httpx.post(f"{self.base}/rerank", json=body, timeout=60).raise_for_status().json()["results"]
        print("\nRanked:", *(f"{each['relevance_score']:.4f} {texts[each['index']]}" for each in results), sep="\n  ")
        scores = [each["relevance_score"] for each in results]
        self.assertEqual(scores, sorted(scores, reverse=True))
        self.assertCountEqual([each["index"] for each in results], range(len(texts)))
        return "\n".join(texts[each["index"]] for each in results)

    def test_langchain_finds_ranks_and_answers(self):
        embeddings = OpenAIEmbeddings(base_url=self.base, api_key=KEY, model=EMBEDDER, check_embedding_ctx_length=False)
        store = InMemoryVectorStore.from_texts(TEXTS, embeddings)
        found = store.similarity_search_with_score(QUESTION, k=2)
        print("\nFound:", *(f"{score:.4f} {document.page_content}" for document, score in found), sep="\n  ")
        self.assertEqual(found[0][0].page_content, FACT)
        retriever = store.as_retriever(search_kwargs={"k": 2})
        chat = ChatOpenAI(base_url=self.base, api_key=KEY, model=CHAT, temperature=0, max_tokens=40)
        given = {"context": retriever | RunnableLambda(self.rank), "question": RunnablePassthrough()}
        chain = given | PROMPT | chat | StrOutputParser()
        pieces = [*chain.stream(QUESTION)]
        print("\nAnswered:", "".join(pieces))
        self.assertGreater(len(pieces), 1)
        self.assertIn("1873", "".join(pieces))
