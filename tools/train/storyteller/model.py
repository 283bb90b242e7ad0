"""GPT-2 in PyTorch, with the parameter names and layouts of openai-community/gpt2.

Shapes in comments: B sequences, T positions, C = n_embd, H heads, D = C / H.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Gpt2Config:
    """The numbers that fix the architecture; the names are those of config.json."""

    vocab_size: int = 2048
    n_positions: int = 512
    n_embd: int = 128
    n_layer: int = 4
    n_head: int = 4
    layer_norm_epsilon: float = 1e-5


class Conv1D(nn.Module):
    """A linear map whose weight is stored [in, out], as in the original GPT-2 checkpoints."""

    def __init__(self, inputs: int, outputs: int, std: float):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * std)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[N, in] -> [N, out]; callers pass two dimensions so that this stays one addmm."""
        return torch.addmm(self.bias, x, self.weight)


class Attention(nn.Module):
    def __init__(self, config: Gpt2Config):
        super().__init__()
        self.n_head = config.n_head
        self.c_attn = Conv1D(config.n_embd, 3 * config.n_embd, 0.02)
        self.c_proj = Conv1D(config.n_embd, config.n_embd, 0.02 / math.sqrt(2 * config.n_layer))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """x [B*T, C], mask [T, T] of 0 and -inf -> [B*T, C]."""
        length = mask.shape[0]
        head_dim = x.shape[1] // self.n_head
        qkv = self.c_attn(x).view(-1, length, 3, self.n_head, head_dim).permute(2, 0, 3, 1, 4)
        # One contiguous copy here lets both batched products run without hidden copies of their own.
        q, k, v = qkv.reshape(3, -1, length, head_dim).unbind(0)  # each [B*H, T, D]
        # The scale goes on the small q, and the mask enters the product itself: no pass over [T, T] scores for either.
        scores = torch.baddbmm(mask, q * (1 / math.sqrt(head_dim)), k.transpose(1, 2))
        mixed = torch.bmm(torch.softmax(scores, dim=-1), v)
        mixed = mixed.view(-1, self.n_head, length, head_dim).transpose(1, 2)
        return self.c_proj(mixed.reshape(x.shape))


class Mlp(nn.Module):
    def __init__(self, config: Gpt2Config):
        super().__init__()
        self.c_fc = Conv1D(config.n_embd, 4 * config.n_embd, 0.02)
        self.c_proj = Conv1D(4 * config.n_embd, config.n_embd, 0.02 / math.sqrt(2 * config.n_layer))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, config: Gpt2Config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.attn = Attention(config)
        self.ln_2 = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.mlp = Mlp(config)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.ln_1(x), mask)
        return x + self.mlp(self.ln_2(x))


class Gpt2(nn.Module):
    """The language model; its output head is the token embedding (tied)."""

    def __init__(self, config: Gpt2Config):
        super().__init__()
        self.config = config
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(config.n_positions, config.n_embd)
        self.h = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.ln_f = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        nn.init.normal_(self.wte.weight, std=0.02)
        nn.init.normal_(self.wpe.weight, std=0.01)
        self._masks: dict[tuple[int, torch.dtype], torch.Tensor] = {}

    def forward(self, ids: torch.Tensor, first_positions: torch.Tensor | None = None) -> torch.Tensor:
        """ids [B, T], first_positions [B] (0 if absent) -> logits [B*T, vocab]."""
        batch, length = ids.shape
        positions = torch.arange(length).expand(batch, length)
        if first_positions is not None:
            positions = positions + first_positions[:, None]
        x = (self.wte(ids) + self.wpe(positions)).view(batch * length, -1)
        mask = self._mask(length, x.dtype)
        for block in self.h:
            x = block(x, mask)
        return self.ln_f(x) @ self.wte.weight.T

    def _mask(self, length: int, dtype: torch.dtype) -> torch.Tensor:
        key = (length, dtype)
        if key not in self._masks:
            self._masks[key] = torch.full((length, length), -math.inf, dtype=dtype).triu(1)
        return self._masks[key]
