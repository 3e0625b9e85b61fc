#!/usr/bin/env python3
"""Writes architectures.json: what timm's plain vision transformers look like.

    make_architectures.py architectures.json

Needs timm 1.0.31 and torch 2.11; builds every model without memory (device 'meta'). A model is
listed when it is made of nothing but timm's own Block, Attention, Mlp (or packed SwiGLU) and
LayerNorm, with a class token or a mean as pooling. `layout` is the CRC-32 of its state_dict, one
line 'name size,size,...' a tensor in order, so that a test can compare every name and shape.
"""

import json
import sys
import zlib

import timm
import torch
from timm.layers import Attention, GluMlp, Mlp, PatchEmbed
from timm.models.vision_transformer import Block

ACTIVATIONS = {"GELU": "gelu", "GELUTanh": "gelu_tanh", "QuickGELU": "quick_gelu", "SiLU": "silu"}


def is_plain(model):
    block = model.blocks[0]
    norms = {type(m).__name__ for m in model.modules() if "Norm" in type(m).__name__}
    names = set(model.state_dict())
    return (
        all(type(b) is Block and type(b.attn) is Attention for b in model.blocks)
        and type(block.mlp) in (Mlp, GluMlp)
        and type(model.patch_embed) is PatchEmbed
        and norms == {"LayerNorm"}
        and model.global_pool in ("token", "avg")
        and not getattr(model, "pool_include_prefix", False)
        and model.pos_embed is not None
        and not any(".attn.norm." in n or ".mlp.norm." in n or n.startswith("patch_embed.norm") for n in names)
        and model.patch_embed.patch_size[0] == model.patch_embed.patch_size[1]
    )


def describe(name, model):
    state = model.state_dict()
    block = model.blocks[0]
    swiglu = type(block.mlp) is GluMlp
    if swiglu:
        assert not block.mlp.gate_last and type(block.mlp.act).__name__ == "SiLU"
    layout = "".join(f"{k} {','.join(map(str, v.shape))}\n" for k, v in state.items())
    epsilons = {m.eps for m in model.modules() if isinstance(m, torch.nn.LayerNorm)}
    assert len(epsilons) == 1, name
    return {
        "name": name,
        "width": model.embed_dim,
        "depth": len(model.blocks),
        "heads": block.attn.num_heads,
        "mlp_width": block.mlp.fc2.in_features,
        "patch": model.patch_embed.patch_size[0],
        "image_size": model.patch_embed.img_size[0],
        "classes": model.num_classes,
        "position_tokens": model.pos_embed.shape[1],
        "class_token": "cls_token" in state,
        "distillation_token": "dist_token" in state,
        "registers": state["reg_token"].shape[1] if "reg_token" in state else 0,
        "swiglu": swiglu,
        "activation": ACTIVATIONS[type(block.mlp.act).__name__],
        "norm_epsilon": epsilons.pop(),
        "pooling": "token" if model.global_pool == "token" else "mean",
        "parameters": sum(v.numel() for v in state.values()),
        "layout": zlib.crc32(layout.encode()),
    }


def main(path):
    torch.set_default_device("meta")
    entries = []
    for name in timm.list_models(module="vision_transformer") + timm.list_models(module="deit"):
        model = timm.create_model(name, pretrained=False)
        if is_plain(model):
            entries.append(describe(name, model))
    with open(path, "w") as file:
        rows = ",\n".join(json.dumps(e) for e in entries)
        file.write(f'{{"timm": "{timm.__version__}", "architectures": [\n{rows}\n]}}\n')


if __name__ == "__main__":
    main(sys.argv[1])
