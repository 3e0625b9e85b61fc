"""Writes the reference files that `vitascope verify` is tested with, one by each Python back end.

usage: make_reference.py --golden tests/golden
       (with torch 2.11, torchvision 0.26, transformers 5.24, timm 1.0.31, safetensors 0.8)

The bodies of the first two functions are the lines that README shows, as they stand there.
"""

import argparse
import os
from pathlib import Path


def write_transformers(model, photos, file, **backend):
    import json, safetensors.torch, torch, transformers
    net = transformers.AutoModelForImageClassification.from_pretrained(model, attn_implementation="eager")
    processor = transformers.AutoImageProcessor.from_pretrained(model, **backend)
    x = processor([transformers.image_utils.load_image(p) for p in photos], return_tensors="pt").pixel_values
    with torch.no_grad(): out, last = net(x, output_hidden_states=True, output_attentions=True), net.base_model(x)[0]
    tensors = {f"{k}.{i}": t.contiguous() for k in ("hidden_states", "attentions") for i, t in enumerate(out[k])}
    tensors |= {"pixel_values": x, "last_hidden_state": last, "logits": out.logits}
    safetensors.torch.save_file(tensors, file, metadata={"images": json.dumps(photos)})


def write_timm(model, photos, file):
    import json, PIL.Image, safetensors.torch, timm, torch; timm.layers.set_fused_attn(False)
    net, tensors = timm.create_model(model, pretrained=True).eval().requires_grad_(False), {}
    keep = lambda module, key: module.register_forward_hook(lambda m, i, out: tensors.update({key: out.clone()}))
    keep(net.norm_pre, "hidden_states.0"), keep(net.norm, "last_hidden_state"), keep(net.head_drop, "pooled")
    for i, block in enumerate(net.blocks): keep(block, f"hidden_states.{i + 1}"), keep(block.attn.attn_drop, f"attentions.{i}")
    prepare = timm.data.create_transform(**timm.data.resolve_model_data_config(net))
    x = torch.stack([prepare(PIL.Image.open(p).convert("RGB")) for p in photos])
    safetensors.torch.save_file({"pixel_values": x, "logits": net(x)} | tensors, file, metadata={"images": json.dumps(photos)})


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
