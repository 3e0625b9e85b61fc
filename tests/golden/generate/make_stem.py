"""A stem of convolutions with its gradients, and sine-cosine position embeddings.

    make_stem.py            writes ../stem.safetensors

Computed in float64 from float32 numbers, stored as float32. Needs torch, transformers and
safetensors.
"""

import pathlib

import torch
from safetensors.torch import save_file
from torch.nn.functional import conv2d, gelu
from transformers.models.vit_mae.modeling_vit_mae import build_2d_sinusoidal_position_embedding

GOLDEN = pathlib.Path(__file__).resolve().parent.parent
# Channels before, channels after, stride: the last two halve, so that a token is 4 x 4 pixels.
STEM = [(3, 4, 1), (4, 6, 2), (6, 5, 2)]
WIDTH = 8


def mae_positions(height, width, channels):
    """As ViTMAE lays them out: the halves change places, which its encoder keeps for the sake of
    the published weights."""
    positions = build_2d_sinusoidal_position_embedding(height, width, channels, cls_token=True)
    half = channels // 2
    return torch.cat([positions[:, half:], positions[:, :half]], 1)[None]


def main():
    torch.manual_seed(3)
    tensors = {"pixels": torch.randn(2, 3, 8, 12), "coefficients": torch.randn(2, 6, WIDTH)}
    for i, (before, after, _) in enumerate(STEM):
        tensors[f"stem.{i}.weight"] = torch.randn(after, before, 3, 3) * 0.4
        tensors[f"stem.{i}.bias"] = torch.randn(after) * 0.3
    tensors["proj.weight"] = torch.randn(WIDTH, STEM[-1][1], 1, 1)
    tensors["proj.bias"] = torch.randn(WIDTH)
    exact = {name: tensor.double().requires_grad_() for name, tensor in tensors.items()}
    x = exact["pixels"]
    for i, (_, _, stride) in enumerate(STEM):
        x = gelu(conv2d(x, exact[f"stem.{i}.weight"], exact[f"stem.{i}.bias"], stride, padding=1))
    tokens = conv2d(x, exact["proj.weight"], exact["proj.bias"]).flatten(2).transpose(1, 2)
    (tokens * exact["coefficients"]).sum().backward()
    for name in list(tensors):
        if name != "coefficients":
            tensors[f"grad.{name}"] = exact[name].grad.float()
    tensors["tokens"] = tokens.detach().float()
    tensors["sincos"] = mae_positions(3, 5, 16).float()
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()},
              GOLDEN / "stem.safetensors")


main()
