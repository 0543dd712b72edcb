"""The dual-branch network as a PyTorch user would write it; only for bench_networks.py."""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def _modulate(x: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], eps=1e-6) * (1 + scale[:, None]) + shift[:, None]


class _Branch(nn.Module):
    """The layers of one branch's block."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.modulation = nn.Linear(width, 6 * width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(2 * width, 2 * width),
            nn.GELU(approximate="tanh"),
            nn.Linear(2 * width, width),
        )

    def attend(self, x: Tensor, code: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Attention, and what the MLP needs."""
        shift, scale, gate, *of_mlp, mlp_gate = self.modulation(code).chunk(6, dim=-1)
        batch, count, width = x.shape
        mixed = self.qkv(_modulate(x, shift, scale)).view(batch, count, 3, self.heads, -1)
        result = F.scaled_dot_product_attention(*mixed.permute(2, 0, 3, 1, 4))
        x = x + gate[:, None] * self.out(result.transpose(1, 2).reshape(batch, count, width))
        return x, _modulate(x, *of_mlp), mlp_gate


class TorchDualBranch(nn.Module):
    """Equal in every product to ``DualBranch(interaction='paper')``."""

    def __init__(self, channels: int, width: int, depth: int, heads: int, bins: int) -> None:
        super().__init__()
        self.embed = nn.ModuleList(nn.Linear(channels, width) for _ in range(2))
        self.time = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.blocks = nn.ModuleList(
            nn.ModuleList(_Branch(width, heads) for _ in range(2)) for _ in range(depth)
        )
        self.final = nn.ModuleList(nn.Linear(width, 2 * width) for _ in range(2))
        self.project = nn.ModuleList(nn.Linear(width, channels) for _ in range(2))
        rates = 1e-4 ** (torch.arange(width // 2) / (width // 2))
        angles = torch.arange(bins)[:, None] * rates
        self.register_buffer("position", torch.cat([angles.sin(), angles.cos()], dim=-1))
        self.register_buffer("cycles", 2 * math.pi * 0.5 * 64 ** torch.linspace(0, 1, width // 2))

    def forward(self, state: list[Tensor], t: Tensor) -> list[Tensor]:
        """Maps two ``(B, K, C)`` and ``t (B,)`` to two ``(B, K, C)``."""
        angles = t[:, None] * self.cycles
        code = F.silu(self.time(torch.cat([angles.sin(), angles.cos()], dim=-1)))
        tokens = [embed(x) + self.position for embed, x in zip(self.embed, state, strict=True)]
        for block in self.blocks:
            attended = [b.attend(x, code) for b, x in zip(block, tokens, strict=True)]
            both = torch.cat([inputs for _, inputs, _ in attended], dim=-1)
            tokens = [
                x + gate[:, None] * branch.mlp(both)
                for branch, (x, _, gate) in zip(block, attended, strict=True)
            ]
        return [
            project(_modulate(x, *final(code).chunk(2, dim=-1)))
            for project, final, x in zip(self.project, self.final, tokens, strict=True)
        ]


def program(
    width: int, depth: int, heads: int, channels: int, length: int, batch: int, train: bool
) -> Callable[[], Any]:
    """Forward and backward pass (``train``) or forward pass only, ready to be called."""
    bins = length // 2 + 1
    network = TorchDualBranch(channels, width, depth, heads, bins)
    state, t = [torch.randn(batch, bins, channels) for _ in range(2)], torch.linspace(0, 1, batch)

    def gradient() -> None:
        network.zero_grad(set_to_none=True)
        sum(x.square().sum() for x in network(state, t)).backward()

    def predict() -> None:
        with torch.inference_mode():
            network(state, t)

    return gradient if train else predict
