"""SmolLM2-135M-Instruct as a GGUF file, run by `transformers` in fp32."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
END = 2


class SmolLm2:
    def __init__(self) -> None:
        folder = Path(sys.argv[1]) / "models"
        self.tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=FILE)
        self.model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=FILE, dtype=torch.float32)

    def ids_of(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False).input_ids

    def continue_greedily(self, ids: list[int], num_tokens: int, fewest: int = 0) -> list[int]:
        prompt = torch.tensor([ids])
        options = {"do_sample": False, "max_new_tokens": num_tokens, "min_new_tokens": fewest, "pad_token_id": 0, "eos_token_id": END}
        return self.model.generate(prompt, attention_mask=torch.ones_like(prompt), **options)[0, len(ids) :].tolist()

    @torch.no_grad()
    def loss(self, ids: list[int]) -> float:
        """Of a token, as a negative log-likelihood."""
        tokens = torch.tensor([ids])
        return self.model(tokens, labels=tokens).loss.item()
