"""The network, its training, and its ONNX file.

It learns the logarithm of the price, so that its error is relative and a price is never negative.
"""

import io
import math

import numpy as np
import torch
from torch import nn

HIDDEN = 64
BATCH = 512
EPOCHS = 120
LEARNING_RATE = 4e-3
OPSET = 17


class Exp(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.exp(x)


def dense(inputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1)
    )


def train(houses: np.ndarray, prices: np.ndarray, seed: int) -> nn.Sequential:
    """The finished network: raw features [n, 8] to euros [n, 1]."""
    torch.manual_seed(seed)
    mean, deviation = houses.mean(0), houses.std(0)
    inputs = torch.from_numpy((houses - mean) / deviation).float()
    log_prices = np.log(prices)
    offset, scale = log_prices.mean(), log_prices.std()
    targets = torch.from_numpy((log_prices - offset) / scale).float().unsqueeze(1)

    network = dense(houses.shape[1])
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    for epoch in range(EPOCHS):
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * 0.5 * (1 + math.cos(math.pi * epoch / EPOCHS))
        for rows in torch.randperm(len(inputs)).split(BATCH):
            loss = nn.functional.mse_loss(network(inputs[rows]), targets[rows])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        if (epoch + 1) % 10 == 0:
            print(f"epoch {epoch + 1} of {EPOCHS}: loss {loss.item():.6f}", flush=True)
    return fold(network, mean, deviation, offset, scale)


@torch.no_grad()
def fold(network: nn.Sequential, mean: np.ndarray, deviation: np.ndarray, offset: float, scale: float) -> nn.Sequential:
    """Moves both normalizations into the first and the last layer; in float64, so that folding costs no precision."""
    folded = dense(len(mean)).double()
    folded.load_state_dict(network.state_dict())
    first, last = folded[0], folded[-1]
    first.weight /= torch.from_numpy(deviation)
    first.bias -= first.weight @ torch.from_numpy(mean)
    last.weight *= scale
    last.bias.mul_(scale).add_(offset)
    return nn.Sequential(*folded, Exp()).float().eval()


def to_onnx(network: nn.Sequential, features: int) -> bytes:
    """float32 `features` [n, 8] to float32 `price` [n, 1] for any n."""
    buffer = io.BytesIO()
    torch.onnx.export(
        network,
        torch.zeros(2, features),
        buffer,
        opset_version=OPSET,
        input_names=["features"],
        output_names=["price"],
        dynamic_axes={"features": {0: "n"}, "price": {0: "n"}},
    )
    return buffer.getvalue()
