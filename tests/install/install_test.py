#!/usr/bin/env python3
"""Installs, moves the prefix, hides the LibTorch of the build, and classifies with what is left.

    install_test.py --build BUILD --libtorch SITE_PACKAGES --golden FOLDER
"""

import argparse
import json
import math
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent / "example"
MODEL, PHOTO, PHOTO_INDEX = "models/hf-vit", "images/rgb_plain.jpg", 0
# No variable of the caller's may help a library to be found.
CLEAN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8"}


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], env=CLEAN, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def can_hide():
    """Whether this user may mount, which a container may refuse even to root."""
    return subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


def run_hidden(hidden, *command):
    """Runs a command where the folder `hidden` is empty."""
    if not can_hide():
        return run(*command)
    return run("unshare", "-m", "sh", "-c",
               'mount -t tmpfs none "$0" && test -z "$(ls "$0")" && exec "$@"', hidden, *command)


def reference_logits(golden):
    """Logits of transformers for the photo, from a safetensors file."""
    data = (golden / MODEL / "expected.safetensors").read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    entry = json.loads(data[8 : 8 + length])["logits"]
    classes = entry["shape"][1]
    start = 8 + length + entry["data_offsets"][0] + 4 * classes * PHOTO_INDEX
    return struct.unpack_from(f"<{classes}f", data, start)


def reference_prediction(golden):
    logits = reference_logits(golden)
    total = sum(math.exp(x) for x in logits)
    index = max(range(len(logits)), key=logits.__getitem__)
    return index, math.exp(logits[index]) / total


def check_libraries(prefix, libtorch):
    """Everything that is loaded exists, and nothing of it lies in the build's environment."""
    for binary in [prefix / "bin/vitascope", prefix / "lib/libvitascope.so"]:
        for line in run("ldd", binary).splitlines():
            assert "not found" not in line, f"{binary}: {line.strip()}"
            assert str(libtorch) not in line, f"{binary} loads from the build's LibTorch: {line.strip()}"
            name = line.split()[0]
            if name.startswith(("libtorch", "libc10", "libgomp", "libcudart", "libcupti", "libvitascope")):
                assert str(prefix) in line, f"{binary} loads {name} from outside the prefix: {line.strip()}"


def check_prediction(what, index, probability, expected):
    assert index == expected[0], f"{what}: class {index}, transformers says {expected[0]}"
    assert abs(probability - expected[1]) < 1e-4, f"{what}: {probability}, transformers {expected[1]}"
    print(f"{what}: class {index}, {probability:.6f} (transformers {expected[1]:.6f})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--libtorch", type=Path, required=True)
    parser.add_argument("--golden", type=Path, required=True)
    args = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="vitascope-install-"))
    try:
        run("cmake", "--install", args.build, "--prefix", work / "first")
        prefix = work / "moved to" / "another place"
        prefix.parent.mkdir()
        (work / "first").rename(prefix)
        check_libraries(prefix, args.libtorch)

        expected = reference_prediction(args.golden)
        model, photo = args.golden / MODEL, args.golden / PHOTO
        answer = run_hidden(args.libtorch, prefix / "bin/vitascope", "classify", photo,
                            "--model", model, "--top", "1", "--format", "json")
        top = json.loads(answer)["predictions"][0]
        check_prediction("installed program", top["index"], top["probability"], expected)

        run("cmake", "-S", EXAMPLE, "-B", work / "example", f"-DCMAKE_PREFIX_PATH={prefix}")
        run_hidden(args.libtorch, "cmake", "--build", work / "example")
        line = run_hidden(args.libtorch, work / "example/example", model, photo).splitlines()[0]
        index, rest = line.split(" ", 1)
        label, probability = rest.rsplit(" ", 1)
        check_prediction("example program", int(index), float(probability), expected)
        assert label == top["label"], f"example says '{label}', the program '{top['label']}'"
        print("LibTorch of the build was " + ("hidden" if can_hide() else "not used (ldd only)"))
    finally:
        shutil.rmtree(work)


main()
