"""Writes the reference files that `vitascope verify` is tested with, one by each Python back end.

usage: make_reference.py --golden tests/golden
       (with torch 2.11, torchvision 0.26, transformers 5.24, timm 1.0.31, safetensors 0.8)

The bodies of the first two functions are the lines that README shows.
"""

import argparse
import os
from pathlib import Path


def write_transformers(model, photos, file, **backend):
    import json, torch
    from safetensors.torch import save_file
    from transformers import AutoImageProcessor, AutoModelForImageClassification, image_utils
    net = AutoModelForImageClassification.from_pretrained(model, attn_implementation="eager").requires_grad_(False)
    x = AutoImageProcessor.from_pretrained(model, **backend)([image_utils.load_image(p) for p in photos], return_tensors="pt")["pixel_values"]
    out = net(x, output_hidden_states=True, output_attentions=True)
    tensors = {f"{k}.{i}": t.contiguous() for k in ("hidden_states", "attentions") for i, t in enumerate(out[k])}
    save_file(tensors | {"pixel_values": x, "last_hidden_state": net.base_model(x)[0], "logits": out.logits}, file, {"images": json.dumps(photos)})


def write_timm(model, photos, file):
    import json, timm, torch; from PIL import Image; from safetensors.torch import save_file
    timm.layers.set_fused_attn(False); tensors = {}
    net = timm.create_model(model, pretrained=True).eval().requires_grad_(False)
    prepare = timm.data.create_transform(**timm.data.resolve_model_data_config(net))
    x = torch.stack([prepare(Image.open(p).convert("RGB")) for p in photos])
    for i, b in enumerate(net.blocks): b.register_forward_hook(lambda m, a, o, i=i: tensors.update({f"hidden_states.{i}": a[0], f"hidden_states.{i + 1}": o})); b.attn.attn_drop.register_forward_hook(lambda m, a, o, i=i: tensors.update({f"attentions.{i}": o}))
    tensors |= {"pixel_values": x, "logits": net(x), "last_hidden_state": net.forward_features(x)}
    save_file({k: t.contiguous() for k, t in tensors.items()}, file, {"images": json.dumps(photos)})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--golden", type=Path, required=True)
    folder = parser.parse_args().golden / "reference"
    folder.mkdir(exist_ok=True)
    os.chdir(folder)  # the photos are named relative to the reference files
    os.environ["HF_HUB_OFFLINE"] = "1"
    photos = ["../images/rgb_plain.jpg"]
    for backend in ("pil", "torchvision"):
        write_transformers("../models/hf-vit", photos, f"transformers-{backend}.safetensors",
                           backend=backend)
    write_timm("local-dir:../models/timm-vit", photos, "timm.safetensors")


if __name__ == "__main__":
    main()
