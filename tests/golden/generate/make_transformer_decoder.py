"""A decoder of captions as PyTorch's nn.TransformerDecoder computes it.

    make_transformer_decoder.py            writes ../mechanisms/transformer_decoder.safetensors

Computed in float64 from float32 numbers, stored as float32. Needs torch and safetensors.
"""

import math
import pathlib

import torch
from safetensors.torch import save_file
from torch import nn

GOLDEN = pathlib.Path(__file__).resolve().parent.parent
VOCABULARY, WIDTH, HEADS, MLP, LAYERS = 11, 12, 3, 20, 2
BATCH, WORDS, PLACES = 2, 5, 6


def positions(count, width):
    angles = torch.arange(count)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def layer_tensors(layer):
    """The parameters of a layer by the names that Vitascope has for them."""
    cross = layer.multihead_attn
    named = {f"{ours}.{kind}": getattr(module, kind)
             for ours, module in (("norm1", layer.norm1), ("norm2", layer.norm2),
                                  ("norm3", layer.norm3), ("mlp.fc1", layer.linear1),
                                  ("mlp.fc2", layer.linear2), ("self_attn.proj", layer.self_attn.out_proj))
             for kind in ("weight", "bias")}
    named["self_attn.qkv.weight"] = layer.self_attn.in_proj_weight
    named["self_attn.qkv.bias"] = layer.self_attn.in_proj_bias
    weights, biases = cross.in_proj_weight.chunk(3), cross.in_proj_bias.chunk(3)
    for letter, weight, bias in zip("QKV", weights, biases):
        named[f"cross_attn.W_{letter}"], named[f"cross_attn.b_{letter}"] = weight, bias
    named["cross_attn.W_O"], named["cross_attn.b_O"] = cross.out_proj.weight, cross.out_proj.bias
    return named


def main():
    torch.manual_seed(5)
    torch.set_default_dtype(torch.float64)
    layer = nn.TransformerDecoderLayer(WIDTH, HEADS, MLP, dropout=0, activation="relu",
                                       layer_norm_eps=1e-6, batch_first=True, norm_first=True)
    decoder = nn.TransformerDecoder(layer, LAYERS, norm=nn.LayerNorm(WIDTH, eps=1e-6))
    embedding, out = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)
    for module in (decoder, embedding, out):
        for parameter in module.parameters():
            parameter.data = (torch.randn_like(parameter) * 0.4).float().double()
    tokens = torch.randint(3, VOCABULARY, (BATCH, WORDS))
    annotations = torch.randn(BATCH, PLACES, WIDTH).float().double()
    seen = torch.ones(BATCH, PLACES, dtype=torch.bool)
    seen[1, 4:] = False

    causal = nn.Transformer.generate_square_subsequent_mask(WORDS)
    words = embedding(tokens) * math.sqrt(WIDTH) + positions(WORDS, WIDTH)
    features = decoder(words, annotations, tgt_mask=causal, memory_key_padding_mask=~seen)
    logits = out(features)
    last = decoder.layers[-1]
    x = decoder.layers[0](words, annotations, tgt_mask=causal, memory_key_padding_mask=~seen)
    x = x + last._sa_block(last.norm1(x), causal, None)
    weights = last.multihead_attn(last.norm2(x), annotations, annotations, key_padding_mask=~seen)[1]

    tensors = {"tokens": tokens, "annotations": annotations, "seen": seen, "logits": logits,
               "weights": weights, "embedding.weight": embedding.weight,
               "norm.weight": decoder.norm.weight, "norm.bias": decoder.norm.bias,
               "out.weight": out.weight, "out.bias": out.bias}
    for i, layer in enumerate(decoder.layers):
        tensors.update({f"layers.{i}.{name}": t for name, t in layer_tensors(layer).items()})
    save_file({name: tensor.detach().float().contiguous() for name, tensor in tensors.items()},
              GOLDEN / "mechanisms" / "transformer_decoder.safetensors")


main()
