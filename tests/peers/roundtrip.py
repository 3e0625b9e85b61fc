#!/usr/bin/env python3
"""Models that go from Python to vitascope, and back, and must give the same numbers.

    roundtrip.py [--program build/vitascope]

out   `vitascope convert` writes each golden model in both layouts; transformers' from_pretrained and
      timm's local-dir: load it without a missing or extra key, and give the golden logits.
in    Small random models of many architectures, saved by timm and transformers themselves, with and
      without heads; `vitascope verify` compares its outputs with theirs.

Ends with status 1 when anything differs by more than the limits of the golden models.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import environment

environment.enter()

import timm
import torch
import transformers
from safetensors.torch import load_file, save_file
from timm.models import save_for_hf

ROOT = environment.ROOT
GOLDEN = ROOT / "tests" / "golden" / "models"
LIMIT = 2e-5  # on logits

# What the other library has no words for, and the words of the refusal.
REFUSED = {
    ("timm-vit-gap", "transformers"): "class token",
    ("timm-vit-gap-cls", "transformers"): "fc_norm",
    ("timm-deit3-pth", "transformers"): "LayerScale",
    ("hf-dinov2", "timm"): "class token and mean",
    ("hf-dinov2-reg-swiglu", "timm"): "class token and mean",
    ("hf-deit-distilled", "timm"): "epsilon",
}
MODELS = ["hf-vit", "hf-vit-v5keys", "hf-vit-sharded", "hf-vit-bf16", "hf-deit-distilled", "hf-dinov2",
          "hf-dinov2-reg-swiglu", "timm-vit", "timm-deit3-pth", "timm-vit-gap", "timm-vit-gap-cls",
          "augreg-npz"]

SMALL = {"embed_dim": 48, "depth": 2, "num_heads": 3, "img_size": 32, "patch_size": 8}
# Architectures that differ in what no argument of timm says.
TIMM = {
    "vit_tiny_patch16_224": {"num_classes": 5},
    "vit_small_patch16_224": {"num_classes": 0},
    "vit_base_patch16_clip_224": {"num_classes": 5},
    "vit_base_patch16_clip_quickgelu_224": {"num_classes": 5},
    "vit_base_patch32_siglip_gap_256": {"num_classes": 5},
    "vit_base_patch16_siglip_gap_224": {"num_classes": 0},
    "vit_medium_patch16_gap_256": {"num_classes": 5},
    "vit_medium_patch16_reg4_gap_256": {"num_classes": 5},
    "vit_base_patch16_gap_224": {"num_classes": 5},
    "vit_so150m_patch16_reg4_gap_256": {"num_classes": 5},
    "vit_base_patch16_radio_v3": {"num_classes": 5},
    "vit_small_patch14_dinov2": {"num_classes": 5},
    "vit_small_patch14_reg4_dinov2": {"num_classes": 0},
    "vit_giant_patch14_dinov2": {"num_classes": 5},
    "vit_giant_patch14_reg4_dinov2": {"num_classes": 5},
    "vit_intern300m_patch14_448": {"num_classes": 5},
    "deit_tiny_patch16_224": {"num_classes": 5, "qk_norm": True},
    "deit_tiny_distilled_patch16_224": {"num_classes": 5},
    "deit3_small_patch16_224": {"num_classes": 5, "global_pool": "avg"},
    "eva_large_patch14_196": {"num_classes": 5, "reg_tokens": 3},
    "flexivit_small": {"num_classes": 5, "class_token": True, "no_embed_class": True},
}


def randomise(model, generator):
    """Every parameter, the zeros and ones of a new model among them, so that each one matters."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.2)
    return model.eval()


class Results:
    def __init__(self):
        self.failures = 0

    def report(self, name, problem):
        print(f"{'FAILED' if problem else 'ok':6} {name}{': ' + problem if problem else ''}", flush=True)
        self.failures += bool(problem)


def load_transformers(folder):
    model, info = transformers.AutoModelForImageClassification.from_pretrained(
        folder, output_loading_info=True)
    if json.loads((folder / "config.json").read_text())["architectures"] == [
            "DeiTForImageClassificationWithTeacher"]:
        model, info = transformers.DeiTForImageClassificationWithTeacher.from_pretrained(
            folder, output_loading_info=True)
    off = {kind: list(keys) for kind, keys in info.items() if keys}
    transformers.AutoImageProcessor.from_pretrained(folder)
    return model.eval(), off and f"loading info {off}"


def out(program, results, folder):
    for name in MODELS:
        meta = json.loads((GOLDEN / name / "meta.json").read_text())
        expected = GOLDEN / name / meta["expected"]
        tensors = load_file(expected)
        for layout in ("transformers", "timm"):
            target = folder / f"{name}-{layout}"
            run = subprocess.run([program, "convert", "--model", GOLDEN / name, "--output", target,
                                  "--layout", layout], capture_output=True, text=True)
            title = f"{name} as {layout}"
            if (name, layout) in REFUSED:
                said = run.returncode == 2 and REFUSED[name, layout] in run.stderr
                results.report(title + " (refused)", "" if said else run.stderr or "was written")
                continue
            if run.returncode != 0:
                results.report(title, run.stderr)
                continue
            problem = ""
            if layout == "timm":
                model = timm.create_model(f"local-dir:{target}", pretrained=True).eval()
            else:
                model, problem = load_transformers(target)
            with torch.no_grad():
                logits = model(tensors["pixel_values"])
            logits = logits if layout == "timm" else logits.logits
            difference = (logits - tensors["logits"]).abs().max().item()
            if not difference <= LIMIT:
                problem = f"logits differ by {difference:.2g}"
            results.report(f"{title} ({difference:.1e})", problem)


def verify(program, results, title, model_folder, reference, folder):
    path = folder / "reference.safetensors"
    save_file({name: tensor.contiguous() for name, tensor in reference.items()}, path)
    run = subprocess.run([program, "verify", "--model", model_folder, "--reference", path],
                         capture_output=True, text=True)
    results.report(title, "" if run.returncode == 0 else run.stdout + run.stderr)


def from_timm(program, results, folder, generator):
    pixels = torch.randn((2, 3, 32, 32), generator=generator)
    for name, arguments in TIMM.items():
        model = randomise(timm.create_model(name, **(SMALL | arguments)), generator)
        target = folder / name
        save_for_hf(model, target, safe_serialization=True)
        with torch.no_grad():
            reference = {"pixel_values": pixels, "last_hidden_state": model.forward_features(pixels)}
            if model.num_classes > 0:
                reference["logits"] = model(pixels)
        verify(program, results, f"timm {name} {arguments}", target, reference, folder)


def from_transformers(program, results, folder, generator):
    size = dict(hidden_size=48, num_hidden_layers=2, num_attention_heads=3, image_size=32, patch_size=8)
    plain = size | {"intermediate_size": 80, "num_labels": 5}
    dinov2 = size | {"mlp_ratio": 3, "num_labels": 5}
    cases = {
        "ViTModel": (transformers.ViTModel, transformers.ViTConfig(**plain)),
        "ViTForImageClassification, gelu_new": (
            transformers.ViTForImageClassification, transformers.ViTConfig(**plain, hidden_act="gelu_new")),
        "ViTForImageClassification, no qkv bias": (
            transformers.ViTForImageClassification, transformers.ViTConfig(**plain, qkv_bias=False)),
        "ViTForMaskedImageModeling": (
            transformers.ViTForMaskedImageModeling, transformers.ViTConfig(**plain, encoder_stride=8)),
        "DeiTModel": (transformers.DeiTModel, transformers.DeiTConfig(**plain)),
        "DeiTForImageClassification": (transformers.DeiTForImageClassification,
                                       transformers.DeiTConfig(**plain)),
        "ViTMAEForPreTraining": (transformers.ViTMAEForPreTraining, transformers.ViTMAEConfig(
            **plain, mask_ratio=0.0, decoder_hidden_size=24, decoder_num_hidden_layers=1,
            decoder_num_attention_heads=2, decoder_intermediate_size=32)),
        "Dinov2Model": (transformers.Dinov2Model, transformers.Dinov2Config(**dinov2)),
        "Dinov2ForImageClassification, SwiGLU": (
            transformers.Dinov2ForImageClassification,
            transformers.Dinov2Config(**dinov2, use_swiglu_ffn=True)),
        "Dinov2WithRegistersModel": (transformers.Dinov2WithRegistersModel,
                                     transformers.Dinov2WithRegistersConfig(**dinov2)),
    }
    for title, (kind, config) in cases.items():
        model = randomise(kind(config), generator)
        pixels = torch.randn((2, 3, 32, 32), generator=generator)
        base = getattr(model, model.base_model_prefix, model)
        more = {"noise": torch.arange(16.0).repeat(2, 1)} if "MAE" in title else {}
        with torch.no_grad():
            reference = {"pixel_values": pixels,
                         "last_hidden_state": base(pixels, **more).last_hidden_state}
            if hasattr(model, "classifier"):
                reference["logits"] = model(pixels).logits
        for original in (True, False):
            target = folder / f"{kind.__name__}-{original}-{len(title)}"
            model.save_pretrained(target, save_original_format=original)
            names = "names of version 4" if original else "names of version 5"
            verify(program, results, f"transformers {title}, {names}", target, reference, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build" / "vitascope"))
    program = parser.parse_args().program
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(5)
    results = Results()
    with tempfile.TemporaryDirectory() as folder:
        out(program, results, Path(folder))
        from_timm(program, results, Path(folder), generator)
        from_transformers(program, results, Path(folder), generator)
    print(f"{results.failures} failed")
    sys.exit(1 if results.failures else 0)


if __name__ == "__main__":
    main()
