#!/usr/bin/env python3
"""Captions from features that lie ready, beside the same decoder in PyTorch, in one interleaved run.

    compare_captioning.py [--rounds N] [--threads N] [--only NAME,...] [--json FILE]

Show, Attend and Tell at the paper's size: LSTM, words and attention 512 wide, 10,000 words, a beam
of 3. The weights are random, and none lets a sentence end: both sides say exactly 20 words. PyTorch's
loop is in show_attend_tell.py; it never looks for <end>, in its favour.

vgg19-1, vgg19-32        14 x 14 places of 512 numbers, one photo or 32 together
resnet50-1, resnet50-32  7 x 7 places of 2048

Both must say the same. Ends with status 1 when a goal is missed.
"""

import functools
import json
import os
import statistics
import subprocess
import sys
import time

from environment import FOLDER, enter

enter()

import comparison  # noqa: E402

SIDE = FOLDER.parent / "captioning_side"
WIDTH, VOCABULARY, MOST_PHOTOS = 512, 10_000, 32
SECONDS = 3  # of each side and round, at least three searches


def captioning_side(options, *words):
    environment = os.environ | {"OMP_NUM_THREADS": str(options.threads)}
    result = subprocess.run([str(word) for word in (SIDE, *words)], env=environment,
                            capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"captioning_side {' '.join(map(str, words))} failed:\n{result.stderr}")
    return result.stdout


def save(folder, edge, annotation):
    """A captioner with random weights, as `vitascope train-captioner` writes it, and annotations."""
    import torch
    from safetensors.torch import save_file
    from show_attend_tell import random_weights

    torch.manual_seed(1)
    folder.mkdir(parents=True, exist_ok=True)
    weights = random_weights(VOCABULARY, WIDTH, annotation)
    save_file(weights, folder / "decoder.safetensors")
    decoder = {"decoder": "lstm", "vocabulary_size": VOCABULARY, "hidden_size": WIDTH,
               "embedding_size": WIDTH, "annotation_size": annotation, "attention": "soft",
               "score": "additive", "window": "global", "half_width": 2.0, "attention_size": WIDTH,
               "attention_heads": 1, "gate": True, "output": "deep_tanh", "layers": 1, "mlp_size": 1}
    encoder = {"name": "random", "path": "", "checksum": "00000000", "stride": 0}
    (folder / "config.json").write_text(json.dumps(
        {"model_type": "vitascope_captioner", "decoder": decoder, "encoder": encoder,
         "grid": [edge, edge]}))
    words = ["<pad>", "<start>", "<end>", "<unk>", *(f"word{i}" for i in range(4, VOCABULARY))]
    (folder / "vocabulary.json").write_text(json.dumps({"tokenizer": "none", "words": words}))
    # Like a CNN's: none below zero, many zero.
    annotations = torch.randn(MOST_PHOTOS, edge, edge, annotation).relu_()
    save_file({"annotations": annotations}, folder / "annotations.safetensors")
    return weights, annotations.flatten(1, 2)


def timed(decoder, annotations, repeats):
    milliseconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        decoder.captions(annotations)
        milliseconds.append(1000 * (time.perf_counter() - start))
    return milliseconds[1:]  # the first one warms up


def compare(result, options, folder, decoder, annotations):
    """What both say of every photo."""
    from safetensors.torch import load_file

    out = folder / "said.safetensors"
    captioning_side(options, "write", folder, folder / "annotations.safetensors", out)
    ours, (tokens, log_probs, weights) = load_file(out), decoder.captions(annotations)
    result.add("the same", sentences=(ours["tokens"] == tokens).all(1).float().mean().item(),
               log_probability_error=(ours["log_probs"] - log_probs).abs().max().item(),
               weight_error=(ours["weights"] - weights).abs().max().item())


def round_of(name, edge, annotation, batch):
    def one(result, options):
        import torch
        from show_attend_tell import Decoder

        torch.set_num_threads(options.threads)
        folder = FOLDER / f"captioner-{name}"
        weights, annotations = save(folder, edge, annotation)
        decoder = Decoder(weights)
        if "the same" not in result.figures:
            compare(result, options, folder, decoder, annotations)
        annotations = annotations[:batch].contiguous()
        repeats = max(3, round(1000 * SECONDS / timed(decoder, annotations, 1)[0]))
        ours = captioning_side(options, "time", folder, folder / "annotations.safetensors", batch,
                               repeats)
        result.add("vitascope", milliseconds=statistics.median(map(float, ours.split())))
        result.add("PyTorch", milliseconds=statistics.median(timed(decoder, annotations, repeats)))

    return one


def goals(batch, result, _options):
    ratio = result.median("PyTorch", "milliseconds") / result.median("vitascope", "milliseconds")
    times = 3 if batch == 1 else 1.5  # of many photos together, products take the time of both
    result.goal(f"at least {times} times PyTorch's speed: {ratio:.2f} times", ratio >= times)
    result.goal("the same sentences", result.median("the same", "sentences") == 1)
    result.goal("log-probabilities within 1e-4", result.median("the same", "log_probability_error") <= 1e-4)


COMPARISONS = {}
for network, grid, channels in (("vgg19", 14, 512), ("resnet50", 7, 2048)):
    for photos in (1, MOST_PHOTOS):
        COMPARISONS[f"{network}-{photos}"] = (
            f"captions of {photos} photos, {grid} x {grid} x {channels}",
            round_of(network, grid, channels, photos), functools.partial(goals, photos))

if __name__ == "__main__":
    sys.exit(comparison.run_all(COMPARISONS, comparison.parse_options(
        __doc__, COMPARISONS, FOLDER, "captioning.json")))
