#!/usr/bin/env python3
"""What a run of `vitascope finetune` leaves, opened by the programs that people open it with.

    finetuned_run.py [--program build/vitascope]

Tiny golden models are trained on golden photos, and the run is gone on with. Then
events  TensorBoard's EventAccumulator reads every epoch of log.jsonl, once.
card    huggingface_hub reads the front matter; the Python lines of the card are run as they stand and
        must give the probabilities of `vitascope classify`.

Ends with status 1 when anything differs.
"""

import argparse
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import environment

environment.enter()

from huggingface_hub import ModelCard
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

ROOT = environment.ROOT
GOLDEN = ROOT / "tests" / "golden"
MODELS = ["hf-vit", "hf-dinov2", "timm-vit-gap"]  # both layouts; one that timm can't express
PHOTO = GOLDEN / "images" / "rgb.png"
LIMIT = 1e-4  # on probabilities
TAGS = {"train_loss": "loss/train", "train_accuracy": "accuracy/train", "val_loss": "loss/validation",
        "val_accuracy": "accuracy/validation", "rate": "learning_rate",
        "images_per_second": "images_per_second"}


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"vitascope {arguments[0]} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def train(program, model, folder):
    table = folder / "labels.csv"
    rows = [f"{GOLDEN}/images/{name},{label},{split}" for split in ("train",) * 4 + ("val",) * 2
            for name, label in (("rgb.png", "red cat"), ("gray.jpg", "grey | cup"))]
    table.write_text("path,label,split\n" + "\n".join(rows) + "\n")
    options = ["--model", GOLDEN / "models" / model, "--data", table, "--output", folder / "my run",
               "--batch-size", "4", "--threads", "1", "--decay", "constant", "--epochs", "4"]
    run(program, "finetune", *options)
    run(program, "finetune", *options, "--resume")
    return folder / "my run"


def check_events(path):
    files = [name for name in os.listdir(path) if "tfevents" in name]
    if len(files) != 1:
        yield f"{len(files)} event files"
    events = EventAccumulator(str(path)).Reload()
    log = [json.loads(line) for line in (path / "log.jsonl").read_text().splitlines()]
    for key, tag in TAGS.items():
        seen = [(event.step, event.value) for event in events.Scalars(tag)]
        if [step for step, _ in seen] != [row["epoch"] for row in log]:
            yield f"{tag}: steps {[step for step, _ in seen]}"
        if any(abs(value - row[key]) > 1e-6 * abs(row[key]) for (_, value), row in zip(seen, log)):
            yield f"{tag}: not the numbers of log.jsonl"


def answers_of(code):
    """What the lines print, as {label: probability}."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        exec(compile(code.replace("photo.jpg", str(PHOTO)), "the card", "exec"), {})
    found = eval(text.getvalue(), {})
    return dict((one["label"], one["score"]) if isinstance(one, dict) else one[::-1] for one in found)


def check_card(program, path):
    card = ModelCard.load(path / "README.md")
    if card.data.to_dict().get("pipeline_tag") != "image-classification":
        yield f"front matter: {card.data}"
    ours = json.loads(run(program, "classify", PHOTO, "--model", path, "--format", "json"))
    expected = {one["label"]: one["probability"] for one in ours["predictions"]}
    os.chdir(path.parent)
    converted = re.search(r"`vitascope (convert [^`]*)`", card.content)
    if converted:
        subprocess.run(f"{program} {converted[1]}", shell=True, check=True, capture_output=True)
    blocks = re.findall(r"```python\n(.*?)```", card.content, re.DOTALL)
    if not blocks:
        yield "no Python lines"
    for code in blocks:
        answers = answers_of(code)
        if any(abs(answers.get(label, 2) - p) > LIMIT for label, p in expected.items()):
            yield f"{answers} from Python, {expected} from vitascope, by\n{code}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(ROOT / "build" / "vitascope"))
    program = os.path.abspath(parser.parse_args().program)
    failures = 0
    for model in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            path = train(program, model, Path(folder))
            found = [*check_events(path), *check_card(program, path)]
            os.chdir(ROOT)
        failures += len(found)
        print(f"{model:<16} {'; '.join(found) or 'opens everywhere'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
