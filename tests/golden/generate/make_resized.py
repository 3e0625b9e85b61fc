"""Writes tests/golden/resized.json: what Pillow's resize gives, as CRC-32 of the bytes.

usage: make_resized.py OUT_FILE

The pictures are made by a linear congruential generator that the test repeats, so that no picture
needs to be stored: random bytes (saturated neighbours, which overshoot and clip) and a smooth ramp.
"""

import json
import sys
import zlib

import numpy as np
from PIL import Image

FILTERS = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}

# (width, height) -> (width, height)
CASES = [((1, 1), (1, 1)), ((1, 1), (7, 5)), ((2, 3), (1, 1)), ((7, 5), (7, 5)), ((7, 5), (7, 11)),
         ((7, 5), (19, 5)), ((5, 7), (3, 7)), ((5, 7), (5, 2)), ((33, 21), (32, 32)),
         ((64, 48), (16, 12)), ((64, 48), (31, 23)), ((13, 9), (100, 77)), ((500, 375), (341, 256)),
         ((375, 500), (224, 224)), ((400, 3), (9, 2)), ((3, 400), (2, 9)), ((1000, 1), (3, 1)),
         ((1, 1000), (1, 3)), ((321, 240), (320, 239)), ((97, 89), (96, 300)), ((640, 11), (11, 64)),
         ((257, 255), (64, 64)), ((30, 30), (1, 1)), ((6, 4), (5, 3)), ((11, 400), (11, 37))]


def noise(width, height):
    """Bytes of x <- 1664525 x + 1013904223 (mod 2^32), top byte, stretched to saturate often."""
    count = width * height * 3
    out, x = np.empty(count, np.int64), (width * 65537 + height) & 0xFFFFFFFF
    for i in range(count):
        x = (1664525 * x + 1013904223) & 0xFFFFFFFF
        out[i] = x >> 24
    out = np.clip(2 * out - 128, 0, 255)
    return out.astype(np.uint8).reshape(height, width, 3)


def main():
    cases = []
    for (w, h), target in CASES:
        im = Image.fromarray(noise(w, h))
        for code, name in FILTERS.items():
            out = im.resize(target, code)
            cases.append(dict(size=[w, h], target=list(target), filter=name, code=code,
                              crc32=zlib.crc32(np.asarray(out).tobytes())))
    with open(sys.argv[1], "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


if __name__ == "__main__":
    main()
