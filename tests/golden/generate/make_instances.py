#!/usr/bin/env python3
"""Writes tests/golden/instances: drawn objects in COCO's format, and their pixels by pycocotools.

    make_instances.py OUT_FOLDER

Needs pycocotools 2.0.11, numpy and Pillow. `annotations.json` holds the objects, one category for
each. `expected.json` lists for each category the photo, the file with its mask, and whether that is
to be met exactly. The last entries are masks at twice and half the size: polygons were scaled before
pycocotools drew them, and of runs each pixel is the one below its centre.
"""

import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from pycocotools import mask as coco

WIDTH, HEIGHT = 120, 90
SEED = 20240612


def outline(radii, centre, squeeze=1.0):
    """Corners around a centre at equal angles, at the radii."""
    angle = np.arange(len(radii)) * 2 * np.pi / len(radii)
    x = centre[0] + radii * np.cos(angle)
    y = centre[1] + squeeze * radii * np.sin(angle)
    return np.stack([x, y], 1).round(2).ravel().tolist()


def polygons(r):
    star = np.where(np.arange(14) % 2, 12.0, 34.0)
    wavy = 25 + 4 * np.sin(np.arange(40) * 2 * np.pi * 5 / 40) + r.uniform(-1, 1, 40)
    turns = np.arange(5) * 4 * np.pi / 5  # each line crosses two others
    pentagram = np.stack([60 + 38 * np.sin(turns), 46 - 38 * np.cos(turns)], 1).round(2)
    return {
        "triangle": [[10.3, 80.7, 108.4, 61.2, 47.9, 5.5]],
        "star": [outline(star, (63.2, 44.4))],
        "wavy": [outline(wavy, (55.5, 47.1), 1.2)],
        "crossing": [pentagram.ravel().tolist()],
        "two parts": [outline(np.full(24, 20.0), (30, 40)), outline(np.full(9, 24.0), (82, 52))],
        "two that overlap": [[20, 20, 80, 20, 80, 60, 20, 60], [50, 40, 105, 40, 105, 80, 50, 80]],
        "cut by the border": [outline(np.full(30, 40.0), (108.3, 12.9))],
    }


def run_masks(r):
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    return {
        "ellipse": ((x - 61.0) / 41) ** 2 + ((y - 43.0) / 27) ** 2 < 1,
        "first pixel": (x < 30) & (y < 20),
        "noise": (r.random((HEIGHT // 9, WIDTH // 8)) < 0.4).repeat(9, 0).repeat(8, 1),
        "nothing": np.zeros((HEIGHT, WIDTH), bool),
        "everything": np.ones((HEIGHT, WIDTH), bool),
    }


def plain_runs(mask):
    flat = np.concatenate([[False], mask.ravel(order="F"), [False]]).astype(np.int8)
    edges = np.flatnonzero(np.diff(flat))
    counts = np.diff(np.concatenate([[0], edges, [mask.size]]))
    return {"size": list(mask.shape), "counts": counts.tolist()}


def drawn(segmentation, height, width):
    return coco.decode(coco.merge(coco.frPyObjects(segmentation, height, width))).astype(bool)


def main(out):
    out.mkdir(parents=True, exist_ok=True)
    r = np.random.default_rng(SEED)
    annotations, expected = [], []

    def expect(name, photo, mask, exact):
        file = f"{name.replace(' ', '_')}_{mask.shape[1]}.png"
        Image.fromarray(mask).save(out / file, optimize=True)
        expected.append({"photo": f"{photo}.jpg", "category": name, "mask": file, "exact": exact})

    def add(name, photo, content, mask, exact):
        annotations.append({"id": 500 + len(annotations), "image_id": photo,
                            "category_id": 3 * len(annotations) + 1, "iscrowd": 0, **content})
        expect(name, photo, mask, exact)

    for name, parts in polygons(r).items():
        add(name, 7, {"segmentation": parts}, drawn(parts, HEIGHT, WIDTH), False)
    for name, box in {"box": [12, 20, 70, 33], "box between pixels": [30.4, 9.7, 61.3, 70.1]}.items():
        add(name, 8, {"segmentation": [], "bbox": box}, drawn(np.array([box], float), HEIGHT, WIDTH), False)
    for name, mask in run_masks(r).items():
        plain = plain_runs(mask)
        packed = coco.encode(np.asfortranarray(mask.astype(np.uint8)))
        packed = {"size": list(packed["size"]), "counts": packed["counts"].decode()}
        decoded = coco.decode(coco.frPyObjects(plain, HEIGHT, WIDTH)).astype(bool)
        assert (decoded == mask).all()
        add(name, 9, {"segmentation": plain}, decoded, True)
        add(f"{name} compressed", 9, {"segmentation": packed}, coco.decode(packed).astype(bool), True)

    categories = [{"id": 3 * i + 1, "name": entry["category"]} for i, entry in enumerate(expected)]

    for name in ("star", "wavy"):
        for factor in (2, 0.5):
            parts = [[number * factor for number in part] for part in polygons(
                np.random.default_rng(SEED))[name]]
            expect(name, 7, drawn(parts, int(HEIGHT * factor), int(WIDTH * factor)), False)
    ellipse = run_masks(np.random.default_rng(SEED))["ellipse"]
    expect("ellipse", 9, ellipse.repeat(2, 0).repeat(2, 1), True)
    expect("ellipse", 9, ellipse[1::2, 1::2], True)

    content = {
        "images": [{"id": i, "file_name": f"{i}.jpg", "width": WIDTH, "height": HEIGHT}
                   for i in (7, 8, 9)],
        "annotations": annotations,
        "categories": categories,
    }
    (out / "annotations.json").write_text(json.dumps(content) + "\n")
    rows = ",\n".join(json.dumps(entry) for entry in expected)
    (out / "expected.json").write_text(f"[\n{rows}\n]\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
