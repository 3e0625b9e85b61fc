"""LeGrad and attention from patches of tests/golden/explain's models, in float64.

    make_legrad.py            writes legrad.safetensors beside each model.safetensors

LeGrad (arXiv:2404.03214): for layer l the class's logit of the mean over its tokens, by the final norm
and the head; of its gradient with respect to that layer's probabilities the positive part, the mean
over heads and queries; then the mean over layers. Needs torch, timm and safetensors.
"""

import json
import pathlib

import torch
from safetensors.torch import load_file, save_file
from timm.models.vision_transformer import VisionTransformer

MODELS = pathlib.Path(__file__).resolve().parent.parent / "explain"


def build(folder):
    config = json.loads((folder / "config.json").read_text())
    network = VisionTransformer(
        img_size=tuple(config["img_size"]), patch_size=config["patch_size"],
        num_classes=config["num_classes"], embed_dim=config["embed_dim"], depth=config["depth"],
        num_heads=config["num_heads"], mlp_ratio=config["mlp_ratio"],
        reg_tokens=config["reg_tokens"], no_embed_class=config["no_embed_class"],
        init_values=1.0 if config["layer_scale"] else None,
    )
    network.load_state_dict(load_file(folder / "model.safetensors"))
    return network.double().eval(), config


def run(network, image):
    """Probabilities [1, H, N, N] and tokens [1, N, C] of every block, in autograd's graph."""
    probabilities, states = [], []
    handles = []
    for block in network.blocks:
        block.attn.fused_attn = False
        handles.append(block.attn.attn_drop.register_forward_hook(
            lambda module, inputs, output: probabilities.append(output)))
        handles.append(block.register_forward_hook(
            lambda module, inputs, output: states.append(output)))
    network(image)
    for handle in handles:
        handle.remove()
    return probabilities, states


def legrad(network, probabilities, states, index):
    layers = []
    for p, tokens in zip(probabilities, states):
        logit = network.head(network.norm(tokens.mean(1)))[0, index]
        gradient = torch.autograd.grad(logit, p, retain_graph=True)[0]
        layers.append(gradient[0].clamp(min=0).mean((0, 1)))  # [N]
    return torch.stack(layers).mean(0)


def main():
    for folder in sorted(path for path in MODELS.iterdir() if path.is_dir()):
        network, config = build(folder)
        rows, columns = config["grid"]
        prefix = config["num_prefix_tokens"]
        image = load_file(folder / "golden.safetensors")["image"].double()
        probabilities, states = run(network, image)
        found = {}
        for index in config["classes"]:
            values = legrad(network, probabilities, states, index)
            found[f"map.legrad.class{index}"] = values[prefix:].reshape(rows, columns)
        everywhere = torch.stack([p[0].detach() for p in probabilities])  # [layer, head, N, N]
        for patch in (0, columns + 1, rows * columns - 1):
            found[f"map.patch{patch}"] = everywhere[:, :, prefix + patch, prefix:].unflatten(
                -1, (rows, columns))
        save_file({name: value.float().contiguous() for name, value in found.items()},
                  folder / "legrad.safetensors")


if __name__ == "__main__":
    main()
