"""Writes tests/golden/augmented.json: what Pillow and torchvision make of pictures, as CRC-32.

usage: make_augmented.py OUT_FILE

The pictures are the noise of make_resized.py; `dim` squeezes its levels into 40 .. 167, so that
stretching and equalising have something to do. Operations and strengths are those of torchvision's
RandAugment, applied by torchvision itself.
"""

import json
import sys
import zlib

import numpy as np
from PIL import Image, ImageFilter
from torchvision.transforms import functional as F
from torchvision.transforms.autoaugment import RandAugment, _apply_op
from torchvision.transforms.functional import InterpolationMode

from make_resized import noise

SIZES = [(31, 23), (3, 50), (1, 1)]
WARPS = ("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate")
NAMES = {"Identity": "identity", "ShearX": "shear_x", "ShearY": "shear_y",
         "TranslateX": "translate_x", "TranslateY": "translate_y", "Rotate": "rotate",
         "Brightness": "brightness", "Color": "saturation", "Contrast": "contrast",
         "Sharpness": "sharpness", "Posterize": "posterize", "Solarize": "solarize",
         "AutoContrast": "stretch_contrast", "Equalize": "equalize"}
FILL = [10, 200, 90]


def picture(size, dim):
    pixels = noise(*size)
    return Image.fromarray(pixels // 2 + 40 if dim else pixels)


def crc(image):
    return zlib.crc32(np.asarray(image).tobytes())


def policy_cases(size, dim):
    """Every operation at three bins and both signs, with the strength that torchvision gives it."""
    image = picture(size, dim)
    space = RandAugment()._augmentation_space(31, (size[1], size[0]))
    for operation, name in NAMES.items():
        if dim and operation in WARPS:
            continue
        values, signed = space[operation]
        for bin_ in (9, 17, 30) if values.ndim else (0,):
            strength = float(values[bin_]) if values.ndim else 0.0
            for sign in (1, -1) if signed else (1,):
                for sampling in ("nearest", "bilinear")[operation not in WARPS:]:
                    out = _apply_op(image, operation, sign * strength,
                                    InterpolationMode(sampling), FILL)
                    yield dict(size=size, dim=dim, operation=name, bin=bin_, sign=sign,
                               strength=strength, sampling=sampling, crc32=crc(out))


def other_cases(size, dim):
    image = picture(size, dim)
    for value in (-0.5, -0.3, -0.1, 0.004, 0.2, 0.5):
        yield dict(size=size, dim=dim, function="hue", value=value, crc32=crc(F.adjust_hue(image, value)))
    for value in (0.1, 0.3, 0.7, 1.0, 1.3, 2.0, 6.5):
        out = image.filter(ImageFilter.GaussianBlur(radius=value))
        yield dict(size=size, dim=dim, function="blur", value=value, crc32=crc(out))
    for value in (0.0, 0.6, 1.0, 1.4):
        for name, function in (("brightness", F.adjust_brightness), ("contrast", F.adjust_contrast),
                               ("saturation", F.adjust_saturation)):
            yield dict(size=size, dim=dim, function=name, value=value, crc32=crc(function(image, value)))
    yield dict(size=size, dim=dim, function="flip", value=0, crc32=crc(F.hflip(image)))
    yield dict(size=size, dim=dim, function="gray", value=0, crc32=crc(F.to_grayscale(image, 3)))


def crop_cases():
    for size, (left, top, width, height), target in [
            ((64, 48), (10, 5, 30, 40), (24, 24)), ((64, 48), (0, 0, 64, 48), (17, 33)),
            ((31, 23), (30, 22, 1, 1), (5, 4)), ((31, 23), (3, 3, 9, 20), (32, 32))]:
        for name in ("bilinear", "bicubic"):
            out = F.resized_crop(picture(size, False), top, left, height, width,
                                 (target[1], target[0]), InterpolationMode(name))
            yield dict(size=size, part=[left, top, width, height], target=target, filter=name,
                       crc32=crc(out))


def main():
    every = [(size, dim) for size in SIZES for dim in (False, True)]
    sections = dict(policy=[c for s, d in every for c in policy_cases(s, d)],
                    functions=[c for s, d in every for c in other_cases(s, d)],
                    crops=list(crop_cases()), fill=FILL)
    with open(sys.argv[1], "w") as f:
        parts = []
        for name, cases in sections.items():
            lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
            parts.append(f'"{name}": [\n{lines}\n]')
        f.write("{" + ",\n".join(parts) + "}\n")


if __name__ == "__main__":
    main()
