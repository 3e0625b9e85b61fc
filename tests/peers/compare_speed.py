#!/usr/bin/env python3
"""Speed and memory beside Python's libraries, in one interleaved run on the same cores.

    compare_speed.py [--photos FOLDER] [--rounds N] [--threads N] [--only NAME,...] [--json FILE]

forward  ViT-B/16, float32, a batch of 8: milliseconds (vitascope benchmark, timm, onnxruntime)
start    a ViT-B/16 directory, from the command line to the first answer (transformers' pipeline)
folder   photos through ViT-S/16 (timm with a DataLoader): images a second
explain  ViT-B/16, one photo at a time: attention, rollout and relevance beside a classification, the page

Every round runs each side once, one after another, so that a machine that grows busy does so for all;
figures are medians over the rounds. Ends with status 1 when a goal is missed.
"""

import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

import environment
from comparison import MEGABYTE, parse_options, run, run_all

environment.enter()
FOLDER = environment.FOLDER
PYTHON_SIDE = [sys.executable, str(Path(__file__).with_name("python_side.py"))]
def forward_round(result, options):
    out, _ = run([options.program, "benchmark", "--model", FOLDER / "vit-base", "--batch-sizes", 8,
                     "--precisions", "fp32", "--repeat", 3, "--threads", options.threads,
                     "--format", "json"])
    result.add("vitascope", milliseconds=json.loads(out.splitlines()[0])["milliseconds_median"])
    for library in ("timm", "onnxruntime"):
        out, _ = run([*PYTHON_SIDE, "forward", library, FOLDER, options.threads, 8, 3])
        result.add(library, milliseconds=float(out))


def forward_goals(result, options):
    ratio = result.median("timm", "milliseconds") / result.median("vitascope", "milliseconds")
    result.goal(f"no slower than timm: {ratio:.2f} times its speed", ratio >= 1)


def memory_goal(result, model):
    weights = (FOLDER / model / "model.safetensors").stat().st_size / MEGABYTE
    peak = result.median("vitascope", "megabytes")
    result.goal(f"peak memory at most the weights ({weights:.0f} MB) + 400 MB: {peak:.0f} MB",
                peak <= weights + 400)


def start_round(result, options):
    photo = sorted(options.photos.iterdir())[0]
    model = FOLDER / "vit-base"
    ours, figures = run([options.program, "classify", photo, "--model", model, "--top", 1,
                         "--format", "json"])
    result.add("vitascope", **figures)
    theirs, figures = run([*PYTHON_SIDE, "pipeline", model, photo])
    result.add("transformers pipeline", **figures)
    ours = json.loads(ours.splitlines()[0])["predictions"][0]["label"]
    if ours != theirs.strip():
        sys.exit(f"vitascope says '{ours}', transformers says '{theirs.strip()}'")


def start_goals(result, options):
    ratio = result.median("transformers pipeline", "seconds") / result.median("vitascope", "seconds")
    result.goal(f"at least 5 times quicker than the pipeline: {ratio:.1f} times", ratio >= 5)
    memory_goal(result, "vit-base")


def folder_round(result, options):
    count = len(list(options.photos.iterdir()))
    out, figures = run([options.program, "classify", options.photos, "--model", FOLDER / "vit-small",
                        "--threads", options.threads, "--batch-size", 32, "--format", "json"])
    if len(out.splitlines()) != count:
        sys.exit(f"vitascope classified {len(out.splitlines())} of {count} photos")
    result.add("vitascope", images_per_second=count / figures["seconds"], **figures)
    # Python's start is left out of its time, in its favour; ours is the whole command.
    out, figures = run([*PYTHON_SIDE, "folder", options.photos, options.threads])
    result.add("timm, DataLoader", images_per_second=count / float(out), **figures)


def folder_goals(result, options):
    ratio = (result.median("vitascope", "images_per_second")
             / result.median("timm, DataLoader", "images_per_second"))
    result.goal(f"at least 1.1 times timm: {ratio:.2f} times", ratio >= 1.1)
    memory_goal(result, "vit-small")


def explain_round(result, options):
    """Our own program alone: what an explanation costs beside the answer that it explains."""
    photos = sorted(options.photos.iterdir())[:6]
    shared = [*photos, "--model", FOLDER / "vit-base", "--threads", options.threads, "--format", "json"]
    # The first photo of each command warms up.
    out, _ = run([options.program, "classify", *shared, "--batch-size", 1])
    lines = [json.loads(line) for line in out.splitlines()][1:]
    result.add("classify", milliseconds=statistics.median(x["timing"]["model_ms"] for x in lines))
    with tempfile.TemporaryDirectory() as folder:
        for method in ("raw", "rollout", "relevance"):
            out, _ = run([options.program, "attend", *shared, "--method", method, "--output", folder,
                          "--force"])
            lines = [json.loads(line) for line in out.splitlines()][1:]
            seconds = statistics.median(x["maps"][0]["seconds"] for x in lines)
            result.add(method, milliseconds=1000 * seconds)
        page = Path(folder) / "page.html"
        _, figures = run([options.program, "attend", photos[0], *shared[len(photos):], "--method",
                          "raw,rollout,relevance", "--html", page])
        result.add("page, the whole command", seconds=figures["seconds"],
                   megabytes_of_page=page.stat().st_size / MEGABYTE)


def explain_goals(result, options):
    plain = result.median("classify", "milliseconds")
    for method, most in (("raw", 1.15), ("rollout", 1.15), ("relevance", 4)):
        ratio = result.median(method, "milliseconds") / plain
        result.goal(f"{method} at most {most} times a classification: {ratio:.2f}", ratio <= most)
    seconds = result.median("page, the whole command", "seconds")
    result.goal(f"the page within 3 s: {seconds:.2f} s", seconds <= 3)


COMPARISONS = {
    "forward": ("ViT-B/16, float32, batch of 8: a forward pass", forward_round, forward_goals),
    "start": ("ViT-B/16 directory: from the command to the first answer", start_round, start_goals),
    "folder": ("Photos through ViT-S/16, batches of 32", folder_round, folder_goals),
    "explain": ("ViT-B/16: what an explanation costs", explain_round, explain_goals),
}


def main():
    options = parse_options(__doc__, COMPARISONS, FOLDER, "speed.json", lambda parser: parser.add_argument(
        "--photos", type=Path, help="a flat folder of photos; default: 500 drawn ones"))
    run([*PYTHON_SIDE, "prepare", FOLDER])
    options.photos = options.photos or FOLDER / "photos"

    sys.exit(run_all(COMPARISONS, options))


main()
