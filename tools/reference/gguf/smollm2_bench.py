"""Lets `transformers` continue the benchmarks' prompts with SmolLM2-135M-Instruct as a GGUF file, in fp32. See README.md."""

import json
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

NUM_PROMPTS = 16
LENGTHS = (40, 200, 400)
NUM_TOKENS = 64

PASSAGE = (
    "The ferry left the harbor before sunrise, when the water was still dark and the gulls slept on the roofs. Only five people "
    "were on board: a baker with a basket of bread, two students who shared a pair of headphones, an old man with a violin, and "
    "a woman who was moving to the island for good. Nobody spoke for the first half hour. Then the baker opened her basket and "
    "gave each of them a roll that was still warm. The old man thanked her and asked what he could give in return. She said that "
    "a song would be enough, so he took the violin out of its case and played a slow dance from the north. The students put their "
    "headphones away and listened. The woman looked back at the city, where the first lights went on in the kitchens. She had "
    "lived there for thirty years, in the same street, above the same shop. Her sister had called her brave, and her neighbor had "
    "called her foolish, and she thought that both of them were right. When the song was over, the sun came up behind the island, "
    "and the captain slowed the engine so that everyone could see it. The coast was green and steep, with a white road that "
    "climbed from the pier to the lighthouse. Goats stood on the rocks and watched the boat come in. The baker said that the "
    "road had taken her father eleven years to build, because he could only work on it in winter. The students wanted to know why "
    "he had not given up. She laughed and answered that he had never thought about the whole road, only about the next ten steps. "
    "The old man nodded and said that he had learned the violin in the same way. At the pier a boy was waiting with a cart and a "
    "small gray donkey. He carried the woman's boxes from the boat, one after another, and asked what was in them. Books, she "
    "said, and a clock, and a lamp that had belonged to her grandmother. The boy had never seen so many books at once. She told "
    "him that he could borrow any of them, as long as he brought it back dry."
)


def main() -> None:
    path = Path(sys.argv[1])
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    sentences = [f"{sentence}." for sentence in PASSAGE.rstrip(".").split(". ")]
    prompts = []
    for length in LENGTHS:
        for first in range(NUM_PROMPTS):
            text = " ".join(sentences[first:] + sentences[:first])
            ids = tokenizer(text, add_special_tokens=False).input_ids[:length]
            prompt = tokenizer.decode(ids)
            if tokenizer(prompt, add_special_tokens=False).input_ids != ids:
                raise ValueError(f"The tokens of {prompt!r} differ when it stands alone.")
            entry = {"prompt": prompt, "numTokens": length}
            # The other prompts are only timed.
            if length == LENGTHS[0] and first < 8:
                entry |= continue_greedily(model, tokenizer, ids)
            prompts.append(entry)
    target = Path(__file__).parents[1] / "fixtures" / "bench-smollm2-reference.json"
    target.write_text(json.dumps({"file": path.name, "prompts": prompts}, indent=1) + "\n")


def continue_greedily(model, tokenizer, ids: list[int]) -> dict[str, object]:
    prompt = torch.tensor([ids])
    output = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        do_sample=False,
        max_new_tokens=NUM_TOKENS,
        min_new_tokens=NUM_TOKENS,
        pad_token_id=0,
        eos_token_id=2,
    )
    answer = output[0, len(ids) :].tolist()
    return {"greedyTokenIds": answer, "greedyText": tokenizer.decode(answer)}


main()
