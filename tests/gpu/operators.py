"""The operators vitascope::attention... for tests and benchmarks, and the choice of a device.

Import this before torch: where torch cannot be imported, or no GPU answers, it says so in one line and
ends the script with status 77, or with 1 where VITASCOPE_REQUIRE_GPU=1 forbids skipping.
"""

import argparse
import os
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def leave(reason):
    """Ends the script: skipped, or failed where a GPU is required."""
    required = os.environ.get("VITASCOPE_REQUIRE_GPU") == "1"
    print(f"{'failed' if required else 'skipped'}: {reason}", file=sys.stderr)
    sys.exit(1 if required else 77)


try:
    import torch
except (ImportError, OSError, ValueError) as problem:
    leave(f"{sys.executable} cannot import torch: {problem}. The tests labelled gpu need a whole "
          "installation of it (pip install torch==2.11.0)")

TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def arguments_parser(description):
    """The options that every script here has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--libraries", type=Path, default=ROOT / "build-kernels",
                        help="folder of libvitascope_kernels.so (a build with VITASCOPE_KERNELS_ONLY)")
    parser.add_argument("--device", choices=["cuda", "cpu"],
                        default=os.environ.get("VITASCOPE_TEST_DEVICE", "cuda"),
                        help="cpu runs the same against the CPU kernels, which tries out the script "
                             "(default: VITASCOPE_TEST_DEVICE, else cuda)")
    return parser


def load(libraries, device):
    """Opens the libraries. What is not there, and a GPU that does not answer, ends the script."""
    if device == "cuda" and not torch.cuda.is_available():
        leave("torch finds no GPU that answers")
    kernels, cuda = libraries / "libvitascope_kernels.so", libraries / "libvitascope_cuda.so"
    for library in [kernels, cuda] if device == "cuda" else [kernels]:
        if not library.exists():
            leave(f"{library} was not built")
    torch.ops.load_library(str(kernels))
    if cuda.exists() and torch.version.cuda:
        torch.ops.load_library(str(cuda))


class KernelTest(unittest.TestCase):
    """A test on the chosen device."""

    device = "cuda"
    small = False

    def random(self, *shape, dtype=torch.float32, seed=1):
        """Normally distributed numbers, the same on every device, that bfloat16 holds exactly."""
        numbers = torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
        return numbers.to(torch.bfloat16).to(self.device, dtype)

    def assert_near(self, ours, expected, limit, message):
        self.assertEqual(ours.shape, expected.shape, message)
        error = (ours.double() - expected.double()).abs()
        # What is infinite or NaN must be so in both, and compares equal by itself.
        same = (ours.double() == expected.double()) | (ours.isnan() & expected.isnan())
        largest = error.masked_fill(same, 0).nan_to_num(nan=torch.inf).amax().item() if error.numel() else 0
        self.assertLessEqual(largest, limit, f"{message}: error {largest:.3g}, limit {limit:.3g}")


def main(description):
    """Runs the tests of the calling script; options that are not ours are unittest's."""
    parser = arguments_parser(description)
    parser.add_argument("--small", action="store_true", help="small problems only, for sanitizers")
    arguments, others = parser.parse_known_args()
    load(arguments.libraries, arguments.device)
    KernelTest.device, KernelTest.small = arguments.device, arguments.small
    unittest.main(module="__main__", argv=[sys.argv[0], *others], verbosity=2)


def default_scale(q):
    return q.size(-1) ** -0.5


def attention(q, k, v, scale=None, **options):
    """softmax(scale q k^T + bias) v: out [B, Nq, H * D] and lse [B, H, Nq]."""
    return torch.ops.vitascope.attention(q, k, v, default_scale(q) if scale is None else scale,
                                         **options)


def attention_map(q, k, lse, scale=None, **options):
    """Rows of the probabilities, [B, H, R, Nk]."""
    return torch.ops.vitascope.attention_map(q, k, lse, default_scale(q) if scale is None else scale,
                                             **options)


def attention_map_gradient(q, k, v, dout, scale=None, **options):
    """d loss / d probability = dout v^T, [B, H, R, Nk]."""
    return torch.ops.vitascope.attention_map_gradient(
        q, k, v, dout, default_scale(q) if scale is None else scale, **options)


def gradients(q, k, v, dout, **options):
    """out, lse, and dq, dk, dv for the gradient dout [B, Nq, H * D] of out."""
    leaves = [t.detach().requires_grad_() for t in (q, k, v)]
    out, lse = attention(*leaves, **options)
    return out.detach(), lse, *torch.autograd.grad(out, leaves, dout)


def joined(heads):
    """[B, H, N, D] as [B, N, H * D]."""
    return heads.transpose(1, 2).flatten(2)


def split(joined_heads, heads):
    """[B, N, H * D] as [B, H, N, D]."""
    return joined_heads.unflatten(2, (heads, -1)).transpose(1, 2)


def formula(q, k, v, scale=None):
    """The formula in float64: out as attention gives it."""
    q, k, v = q.double(), k.double(), v.double()
    scores = q @ k.mT * (default_scale(q) if scale is None else scale)
    return joined(scores.softmax(-1) @ v)
