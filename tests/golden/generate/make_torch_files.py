"""Writes the small files of torch.save that the tests of the .pth reader read (tests/golden/torch).

    python3 make_torch_files.py --out ../torch

Every tensor counts: element i of an array of n is i (bool: i is odd), so that the tests know what to
expect without these files. Made with torch 2.11.0 and numpy 2.4.6.
"""

import argparse
import collections
import pathlib

import numpy
import torch
from torch import nn


def count(*shape, dtype=torch.float32):
    elements = torch.arange(int(numpy.prod(shape)) if shape else 1)
    elements = elements % 2 == 1 if dtype == torch.bool else elements.to(dtype)
    return elements.reshape(shape)


def weights(first):
    """Two tensors; `first` tells which dictionary was chosen."""
    return collections.OrderedDict([("first", torch.tensor([float(first)])), ("w", count(2, 3))])


class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)


def dtypes():
    named = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32,
             torch.int16, torch.int8, torch.uint8, torch.bool]
    return {str(dtype).removeprefix("torch."): count(2, 3, dtype=dtype) for dtype in named}


def layouts():
    base = count(4, 6)
    with_attribute = nn.Parameter(count(3))
    with_attribute.origin = "test"
    return {
        "transposed": nn.Parameter(base.t()),
        "columns": base[:, 2:4],
        "rows": base[2:],
        "one_row": base[1:2],
        "every_other": base[::2, ::3],
        "scalar": torch.tensor(5.0),
        "empty": torch.zeros(0, 3),
        "parameter": nn.Parameter(count(2, 2)),
        "with_attribute": with_attribute,
        "channels_last": count(1, 2, 3, 4).contiguous(memory_format=torch.channels_last),
    }


def training_checkpoint():
    """What a training loop saves: weights, and much that is none."""
    model = nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=numpy.float64(0.1))
    model(count(1, 3)).sum().backward()
    optimizer.step()
    return {
        "epoch": 3,
        "arch": "vit_tiny",
        "metric": 0.5,
        "best": True,
        "args": argparse.Namespace(lr=0.1, betas=(0.9, 0.999), device=torch.device("cpu"), size=torch.Size([1, 2]),
                                   dtype=torch.bfloat16, nested=argparse.Namespace(x=1)),
        "history": [numpy.float32(1.5), numpy.int64(2), numpy.arange(3.0)],
        "counts": collections.defaultdict(int, {"a": 1}),
        "seed": 2**100,
        "names": {"cat", "dog"},
        "optimizer": optimizer.state_dict(),
        "state_dict": weights(1),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)

    def save(name, value, **options):
        torch.save(value, out / name, **options)

    save("dtypes.pth", dtypes())
    save("layouts.pth", layouts())
    save("training.pth", training_checkpoint())
    for protocol in (3, 4, 5):
        save(f"protocol{protocol}.pth", training_checkpoint(), pickle_protocol=protocol)
    save("ema.pth", {"model": weights(1), "state_dict": weights(2), "model_ema": weights(3),
                     "state_dict_ema": weights(4)})
    save("ema_none.pth", {"model": weights(1), "state_dict": weights(2), "state_dict_ema": None})
    save("prefixes.pth", {"module": {f"module.backbone.{k}": v for k, v in weights(1).items()}})
    save("prefix_of_some.pth", {"backbone.w": count(2), "head.w": count(2)})
    save("module_state.pth", nn.Linear(3, 2).state_dict())  # an OrderedDict with _metadata
    save("teacher.pth", {"student": weights(1), "teacher": weights(2), "epoch": 1})
    save("one_tensor.pth", count(2))

    save("legacy.pth", weights(1), _use_new_zipfile_serialization=False)
    save("whole.pth", Wrapped())
    save("whole_nested.pth", {"epoch": 1, "model": Wrapped()})
    save("expanded.pth", {"w": torch.zeros(1).expand(1000)})
    save("sparse.pth", {"w": torch.eye(2).to_sparse()})
    save("complex.pth", {"w": torch.zeros(2, dtype=torch.complex64)})
    save("float8.pth", {"w": count(4).to(torch.float8_e4m3fn)})
    save("uint16.pth", {"w": count(4).to(torch.uint16)})
    torch.jit.save(torch.jit.trace(nn.Linear(2, 2), count(1, 2)), out / "script.pt")


if __name__ == "__main__":
    main()
