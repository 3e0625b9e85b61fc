#!/usr/bin/env python3
"""Training beside Python's libraries, in one interleaved run on the same cores.

    compare_training.py [--rounds N] [--threads N] [--only NAME,...] [--json FILE]

train-fp32, train-bf16  ViT-S/16, batches of 16, AdamW: images a second (vitascope finetune from JPEGs;
                        timm in PyTorch's eager mode on a batch that lies ready in memory)
head                    a linear head on the same cached features: seconds (vitascope's closed form and
                        twelve learning rates; scikit-learn's LogisticRegression)

Every round runs each side once, one after another; figures are medians over the rounds. Ends with
status 1 when a goal is missed.
"""

import json
import re
import sys
import tempfile
from pathlib import Path

import environment

environment.enter()
from comparison import parse_options, run, run_all

FOLDER = environment.FOLDER
PYTHON_SIDE = [sys.executable, str(Path(__file__).with_name("python_side.py"))]
CLASSES = 10


def table(folder, count):
    """labels.csv of drawn photos: a quarter for validation."""
    photos = sorted((FOLDER / "photos").iterdir())[:count]
    lines = [f"{photo},class {i % CLASSES},{'val' if i // CLASSES % 4 == 3 else 'train'}"
             for i, photo in enumerate(photos)]
    path = Path(folder) / "labels.csv"
    path.write_text("\n".join(["path,label,split", *lines]) + "\n")
    return path


def train_round(precision):
    def one(result, options):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run"
            run([options.program, "finetune", "--model", FOLDER / "vit-small", "--data",
                 table(folder, 120), "--output", path, "--epochs", 2, "--batch-size", 16, "--precision",
                 precision, "--threads", options.threads, "--skip-check", "--quiet"])
            epochs = [json.loads(line) for line in (path / "log.jsonl").read_text().splitlines()]
        result.add("vitascope", images_per_second=epochs[1]["images_per_second"],
                   waiting_percent=100 * epochs[1]["waiting"],
                   megabytes=epochs[1]["peak_memory"] / 1e6)  # the first epoch warms up
        out, figures = run([*PYTHON_SIDE, "train", precision, options.threads, 16, 6])
        result.add("timm, eager", images_per_second=float(out), megabytes=figures["megabytes"])

    return one


def train_goal(least):
    def goals(result, options):
        ratio = (result.median("vitascope", "images_per_second")
                 / result.median("timm, eager", "images_per_second"))
        result.goal(f"at least {least:.2f} times timm: {ratio:.2f} times", ratio >= least)

    return goals


def head_round(result, options):
    with tempfile.TemporaryDirectory() as folder:
        labels, path = table(folder, 500), Path(folder) / "run"
        out, _ = run([options.program, "finetune", "--model", FOLDER / "vit-small", "--data", labels,
                      "--output", path, "--method", "head", "--threads", options.threads,
                      "--skip-check"])
        result.add("vitascope", seconds=float(re.search(r"the head in ([0-9.]+) s", out)[1]))
        out, _ = run([*PYTHON_SIDE, "head", path / "features.safetensors", labels, options.threads])
        result.add("scikit-learn", seconds=float(out))


def head_goals(result, options):
    ratio = result.median("scikit-learn", "seconds") / result.median("vitascope", "seconds")
    result.goal(f"no slower than scikit-learn: {ratio:.2f} times its speed", ratio >= 1)


COMPARISONS = {
    "train-fp32": ("ViT-S/16, float32, batches of 16: training", train_round("fp32"), train_goal(1.1)),
    "train-bf16": ("ViT-S/16, bfloat16, batches of 16: training", train_round("bf16"), train_goal(1.2)),
    "head": ("A linear head on cached features, 500 photos", head_round, head_goals),
}


def main():
    options = parse_options(__doc__, COMPARISONS, FOLDER, "training.json")
    run([*PYTHON_SIDE, "prepare", FOLDER])
    sys.exit(run_all(COMPARISONS, options))


main()
