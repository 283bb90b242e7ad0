"""Lets `transformers` answer chats with SmolLM2-135M-Instruct as a GGUF file, in fp32. See README.md."""

import json
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

NUM_TOKENS = 48

CHATS = [
    "What is batching?",
    "Name three fruits.",
    "Write one sentence about the sea.",
    "What is 2 + 3?",
    "Who wrote Hamlet?",
    "Translate 'good morning' to French.",
    "Explain a web worker to a child.",
    "List the days of the week.",
]

TEXT = (
    "The library of the town stood on a hill above the river. Every evening, when the last visitors had gone, the librarian "
    "walked through the rooms and put the books back on their shelves. She knew each of them by its spine, and she liked the "
    "quiet of the hour. One winter a storm took the roof off the east wing, and the people of the town came with ladders, "
    "carts and blankets to carry the books to their own houses. In spring, when the roof was whole again, every single book "
    "was returned, and some of them had notes between their pages: thank you, I had never read this one before."
)


def main() -> None:
    path = Path(sys.argv[1])
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    chats = []
    for question in CHATS:
        messages = [{"role": "user", "content": question}]
        rendered = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        prompt = tokenizer(rendered, add_special_tokens=False, return_tensors="pt").input_ids
        output = model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            do_sample=False,
            max_new_tokens=NUM_TOKENS,
            pad_token_id=0,
            eos_token_id=2,
        )
        answer = output[0, prompt.shape[1] :].tolist()
        chats.append({"question": question, "promptTokenIds": prompt[0].tolist(), "tokenIds": answer})
    ids = tokenizer(TEXT, add_special_tokens=False, return_tensors="pt").input_ids
    with torch.no_grad():
        loss = model(ids, labels=ids).loss.item()
    target = Path(__file__).parents[1] / "fixtures" / "gguf-smollm2-reference.json"
    reference = {"file": path.name, "chats": chats, "text": TEXT, "textTokenIds": ids[0].tolist(), "logLikelihood": -loss}
    target.write_text(json.dumps(reference, indent=1) + "\n")


main()
