#!/usr/bin/env python3
"""The 55 problems of tests/golden/attention in every precision, within the limits that go with them."""

import operators
from operators import TYPES, KernelTest
import torch

from golden_case import cases

# What --small leaves: four tiles of keys, enough for every place of shared memory to be used again, and
# one of the half types, whose kernels are the same.
SMALL_TOKENS = 200
SMALL_TYPES = ["float32", "bfloat16"]


class AttentionGoldenTest(KernelTest):
    """Each method for each case; a failure names the case, the tensor, the error and its limit."""

    @classmethod
    def setUpClass(cls):
        cls.cases = cases()
        assert len(cls.cases) == 55, f"55 cases were expected, found {len(cls.cases)}"
        if cls.small:
            cls.cases = [c for c in cls.cases if max(c.info["Nq"], c.info["Nk"]) <= SMALL_TOKENS]

    def every_case(self, check):
        for precision in SMALL_TYPES if self.small else TYPES:
            for case in self.cases:
                with self.subTest(case=case.name, precision=precision):
                    operands = case.operands(TYPES[precision], self.device)
                    check(case, precision, operands, case.options(self.device))

    def expect(self, case, precision, name, ours, expected, table=None):
        ours = ours.cpu()
        self.assertTrue(torch.equal(ours.isfinite(), expected.isfinite()),
                        f"{name}: -inf, or NaN, where there is none in the answer")
        self.assert_near(ours, expected, case.limit(table or name, precision, expected), name)

    def test_forward_keeps_the_limits(self):
        def check(case, precision, operands, options):
            out, lse = operators.attention(*operands, **options)
            self.assertEqual(out.dtype, operands[0].dtype)
            self.expect(case, precision, "out", out, case.joined("out"))
            self.expect(case, precision, "lse", lse, case.tensors["lse"])
            dead = case.tensors["lse"].isinf()
            nothing = operators.split(out, lse.size(1)).cpu()[dead]
            self.assertTrue((nothing == 0).all(), "out of queries that see no key is not 0")

        self.every_case(check)

    def test_backward_keeps_the_limits(self):
        def check(case, precision, operands, options):
            dout = case.joined("dout").to(self.device, operands[0].dtype)
            _, _, *ours = operators.gradients(*operands, dout, **options)
            for name, gradient, expected in zip("qkv", ours, case.gradients(), strict=True):
                self.expect(case, precision, f"d{name}", gradient, expected)
            dead = case.tensors["lse"].isinf()
            self.assertTrue((ours[0].cpu()[dead] == 0).all(), "dq of a query that sees no key is not 0")
            if "key_mask" in case.tensors:
                hidden = (case.tensors["key_mask"] == 0)[:, None].expand(ours[1].shape[:3])
                for name, gradient in zip("kv", ours[1:], strict=True):
                    self.assertTrue((gradient.cpu()[hidden] == 0).all(),
                                    f"d{name} of a key that padding hides is not 0")

        self.every_case(check)

    def test_the_bias_gets_its_gradient(self):
        for case in self.cases:
            if "bias" not in case.tensors:
                continue
            with self.subTest(case=case.name):
                operands = case.operands(torch.float32, self.device)
                options = case.options(self.device)
                options["bias"].requires_grad_()
                out, _ = operators.attention(*operands, **options)
                out.backward(case.joined("dout").to(self.device))
                self.expect(case, "float32", "dbias", options["bias"].grad, case.tensors["dbias"])

    def test_maps_keep_the_limits(self):
        def check(case, precision, operands, options):
            q, k, _ = operands
            lse = operators.attention(*operands, **options)[1]
            first = torch.zeros(1, dtype=torch.int64, device=self.device)
            row = operators.attention_map(q, k, lse, rows=first, **options)
            self.expect(case, precision, "cls_probs", row.squeeze(2), case.tensors["cls_probs"])
            mean = operators.attention_map(q, k, lse, head_mean=True, **options).squeeze(1)
            self.expect(case, precision, "cls_probs_headmean", mean[:, 0],
                        case.tensors["cls_probs_headmean"], table="cls_probs")
            if "probs_headmean" in case.tensors:
                self.expect(case, precision, "probs_headmean", mean, case.tensors["probs_headmean"])
            last = torch.tensor([q.size(2) - 1, 0], device=self.device)
            whole = operators.attention_map(q, k, lse, **options)
            rows = operators.attention_map(q, k, lse, rows=last, **options)
            self.assertTrue(torch.equal(rows, whole[:, :, [-1, 0]]), "rows differ from the whole map")

        self.every_case(check)

    def test_map_gradients_are_dout_times_v(self):
        def check(case, _, operands, options):
            q, k, v = operands
            dout = case.joined("dout")
            ours = operators.attention_map_gradient(q, k, v, dout.to(self.device, q.dtype), **options)
            exact = (operators.split(dout.double(), q.size(1)) @
                     case.operands(torch.float64, "cpu")[2].mT)
            probabilities = operators.attention_map(q, k, operators.attention(q, k, v, **options)[1],
                                                    **options)
            # Where scores are huge, visible keys have probabilities that float32 rounds to 0.
            hidden = (probabilities == 0).cpu() & ("huge" not in case.info)
            self.assertTrue((ours.cpu()[hidden] == 0).all(), "the gradient of a hidden key is not 0")
            exact = exact.masked_fill(hidden, 0)
            self.assert_near(ours.cpu(), exact, 1e-5 * exact.abs().max().item(), "map gradient")

        self.every_case(check)


if __name__ == "__main__":
    operators.main(__doc__)
