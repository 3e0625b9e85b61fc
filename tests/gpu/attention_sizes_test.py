#!/usr/bin/env python3
"""Lengths and widths of vision transformers against the formula in float64, in every precision.

The problems' numbers are exact in bfloat16 and float16. A half type may be off by twice (gradients:
three times) what an ideal fused kernel of that type is: one that rounds probabilities and their
gradients before the second product, and its results.
"""

import operators
from operators import TYPES, KernelTest
import torch

TOKENS = [33, 257, 288, 289, 577, 1025, 1370]
WIDTHS = [16, 32, 64, 72, 80, 96, 128]


def exact_and_ideal(q, k, v, dout, scale, dtype):
    """(out, dq, dk, dv) in float64 by the formula and by an ideal kernel, then lse, p and dp."""
    def rounded(tensor):
        return tensor.to(dtype).double()

    scores = q @ k.mT * scale
    lse = scores.logsumexp(-1)
    p = (scores - lse.unsqueeze(-1)).exp()
    out, dp = p @ v, dout @ v.mT
    ds = p * (dp - (dout * out).sum(-1, keepdim=True))
    exact = out, ds @ k * scale, ds.mT @ q * scale, p.mT @ dout
    weights = (scores - scores.amax(-1, keepdim=True)).exp()
    best = rounded(rounded(weights) @ v / weights.sum(-1, keepdim=True))
    ds = rounded(p * (dp - (dout * best).sum(-1, keepdim=True)))
    ideal = (best, rounded(ds @ k * scale), rounded(ds.mT @ q * scale),
             rounded(rounded(p).mT @ dout))
    return exact, ideal, lse, p, dp


class AttentionSizesTest(KernelTest):
    def check(self, tokens, width, precision, dtype):
        q, k, v, dout = (self.random(1, 2, tokens, width, dtype=torch.float64, seed=seed)
                         for seed in range(4))
        exact, ideal, lse, p, dp = exact_and_ideal(q, k, v, dout, width**-0.5, dtype)
        halves = [tensor.to(dtype) for tensor in (q, k, v)]
        joined_dout = operators.joined(dout.to(dtype))
        out, our_lse, *gradients = operators.gradients(*halves, joined_dout)
        results = [operators.split(out, 2), *gradients]
        for name, ours, answer, best in zip(("out", "dq", "dk", "dv"), results, exact, ideal,
                                            strict=True):
            factor = 2 if name == "out" else 3
            limit = factor * (best - answer).abs().max().item() + 1e-5
            if precision == "float32":
                largest = answer.abs().max().item()
                limit = 1e-5 * largest if name == "out" else 2e-5 * largest + 1e-6
            self.assert_near(ours, answer, limit, name)
        self.assert_near(our_lse, lse, 1e-5 * lse.abs().max().item(), "lse")
        self.assert_near(operators.attention_map(*halves[:2], our_lse), p, 1e-5 * p.max().item(), "map")
        self.assert_near(operators.attention_map_gradient(*halves, joined_dout), dp,
                         1e-5 * dp.abs().max().item(), "map gradient")

    def test_every_size_keeps_the_limits(self):
        for precision, dtype in TYPES.items():
            for tokens in TOKENS[:2] if self.small else TOKENS:
                for width in WIDTHS:
                    with self.subTest(tokens=tokens, width=width, precision=precision):
                        self.check(tokens, width, precision, dtype)


if __name__ == "__main__":
    operators.main(__doc__)
