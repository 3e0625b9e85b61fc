"""Writes tests/golden/prepared.json: what transformers' PIL back end and timm make of pictures.

usage: make_prepared.py OUT_FILE

Each case has a configuration as it stands in a model's own file, a picture's size, and the CRC-32 of
the float32 [3, H, W] that Python gives. Pictures are those of make_resized.py.
"""

import json
import sys
import zlib

import numpy as np
from PIL import Image
from timm.data import create_transform, resolve_data_config
from transformers.models.bit.image_processing_pil_bit import BitImageProcessorPil
from transformers.models.deit.image_processing_pil_deit import DeiTImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from make_resized import noise

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
HALF = [0.5, 0.5, 0.5]
CLASSES = {"ViTImageProcessor": ViTImageProcessorPil, "DeiTImageProcessor": DeiTImageProcessorPil,
           "BitImageProcessor": BitImageProcessorPil}

TRANSFORMERS = [
    dict(image_processor_type="ViTImageProcessor", size={"height": 32, "width": 32}, resample=2,
         image_mean=HALF, image_std=HALF),
    dict(image_processor_type="ViTImageProcessor", size=24, image_mean=HALF, image_std=HALF),
    dict(image_processor_type="ViTImageProcessor", size={"height": 20, "width": 36}, resample=1,
         image_mean=MEAN, image_std=STD, rescale_factor=0.01),
    dict(image_processor_type="ViTImageProcessor", size=[18, 30], resample=0, do_normalize=False),
    dict(image_processor_type="ViTImageProcessor", size=16, do_rescale=False, image_mean=127.0,
         image_std=63.5),
    dict(image_processor_type="DeiTImageProcessor", size={"height": 37, "width": 36},
         crop_size={"height": 32, "width": 32}, resample=3, image_mean=MEAN, image_std=STD),
    dict(image_processor_type="DeiTImageProcessor", size=30, crop_size=32, image_mean=MEAN,
         image_std=STD),
    dict(image_processor_type="DeiTImageProcessor", size=30, do_center_crop=False, image_mean=MEAN,
         image_std=STD),
    dict(image_processor_type="BitImageProcessor", size={"shortest_edge": 36},
         crop_size={"height": 32, "width": 32}, resample=3, image_mean=MEAN, image_std=STD),
    dict(image_processor_type="BitImageProcessor", size=35, crop_size={"height": 30, "width": 41},
         resample=5, image_mean=MEAN, image_std=STD),
    dict(image_processor_type="BitImageProcessor", do_resize=False, crop_size=33, image_mean=MEAN,
         image_std=STD),
    dict(image_processor_type="BitImageProcessor", size={"shortest_edge": 21}, do_center_crop=False,
         resample=4, image_mean=MEAN, image_std=STD),
]

TIMM = [
    dict(input_size=[3, 32, 32], crop_pct=0.9, crop_mode="center", interpolation="bicubic",
         mean=HALF, std=HALF),
    dict(input_size=[3, 32, 32], interpolation="bilinear", mean=MEAN, std=STD),
    dict(input_size=[3, 32, 32], crop_pct=1.0, crop_mode="squash", interpolation="bicubic",
         mean=MEAN, std=STD),
    dict(input_size=[3, 30, 34], crop_pct=0.93, crop_mode="squash", interpolation="lanczos",
         mean=MEAN, std=STD),
    dict(input_size=[3, 32, 32], crop_pct=1.0, crop_mode="border", interpolation="bicubic",
         mean=MEAN, std=STD),
    dict(input_size=[3, 32, 48], crop_pct=0.95, crop_mode="border", interpolation="bilinear",
         mean=HALF, std=HALF),
    dict(input_size=[3, 32, 48], crop_pct=0.9, crop_mode="center", interpolation="bicubic",
         mean=MEAN, std=STD),
    dict(input_size=[3, 48, 32], crop_pct=1.0, interpolation="bicubic", mean=MEAN, std=STD),
    dict(input_size=[3, 31, 31], crop_pct=0.85, interpolation="nearest", mean=MEAN, std=STD),
]

SIZES = [(200, 150), (150, 201), (33, 32), (32, 32), (31, 20), (7, 5), (1, 1), (300, 7), (5, 260)]


def entry(library, config, size, pixels, **more):
    pixels = np.ascontiguousarray(pixels, np.float32)
    return dict(library=library, config=config, size=list(size), shape=list(pixels.shape),
                crc32=zlib.crc32(pixels.tobytes()), **more)


def transformers_case(config, size):
    processor = CLASSES[config["image_processor_type"]](**config)
    out = processor(Image.fromarray(noise(*size)), return_tensors="np")["pixel_values"][0]
    return entry("transformers", config, size, out)


def timm_case(config, size, input_size=None):
    args = {} if input_size is None else dict(input_size=[3, *input_size])
    transform = create_transform(**resolve_data_config(args, pretrained_cfg=config))
    more = {} if input_size is None else dict(input_size=list(input_size))
    return entry("timm", config, size, transform(Image.fromarray(noise(*size))).numpy(), **more)


def main():
    cases = [transformers_case(c, s) for c in TRANSFORMERS for s in SIZES]
    cases += [timm_case(c, s) for c in TIMM for s in SIZES]
    for config in TIMM:
        for input_size in ((48, 48), (25, 40)):
            cases.append(timm_case(config, (200, 150), input_size))
    with open(sys.argv[1], "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


if __name__ == "__main__":
    main()
