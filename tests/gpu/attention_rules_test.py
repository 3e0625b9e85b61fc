#!/usr/bin/env python3
"""What other kernels have got wrong, and what only a real device shows: each rule a test."""

import functools

import operators
from operators import KernelTest, attention, formula, joined
import torch

GIBIBYTE = 2**30
FAR = 2**31 + 8  # elements: more than 32 bits count
EVERY_TYPE = [torch.bfloat16, torch.float16, torch.float32]
ONE_STEP = {torch.float32: 4e-6, torch.bfloat16: 0.02, torch.float16: 0.003}  # for values of about 1


def needs_gpu(test):
    @functools.wraps(test)
    def run(self):
        if self.device != "cuda":
            self.skipTest("this rule is about GPUs")
        test(self)
    return run


def sleep_on_gpu():
    """Keeps the current stream busy for about half a second."""
    torch.cuda._sleep(1_000_000_000)  # pylint: disable=protected-access


class AttentionRulesTest(KernelTest):
    def heads(self, shape, dtype=torch.float32, count=3):
        """q, k, v and so on, as [B, H, N, D]."""
        return [self.random(*shape, dtype=dtype, seed=seed) for seed in range(count)]

    def need_memory(self, gibibytes):
        if self.small:
            self.skipTest("too large for --small")
        if self.device == "cuda" and torch.cuda.mem_get_info()[0] < gibibytes * GIBIBYTE:
            self.skipTest(f"takes {gibibytes} GiB of the GPU's memory, which are not free")

    def called_operators(self, call):
        """Names of all operators of LibTorch that run inside a call."""
        with torch.autograd.profiler.profile() as profile:
            call()
        return {event.name for event in profile.function_events}

    # Sizes.

    def test_more_heads_than_a_grid_of_blocks_holds(self):
        for dtype in EVERY_TYPE:
            q, k, v = self.heads((70_000, 1, 2, 8), dtype)
            out, _, dq, dk, dv = operators.gradients(q, k, v, torch.ones_like(joined(q)))
            self.assert_near(out, formula(q, k, v), ONE_STEP[dtype], f"out {dtype}")
            # With ones as dout, the gradients of v over the keys sum up to the number of queries.
            self.assert_near(dv.double().sum(2), torch.full_like(dv[:, :, 0].double(), 2),
                             4 * ONE_STEP[dtype], f"dv {dtype}")
            self.assertTrue(dq.isfinite().all() and dk.isfinite().all(), f"dq, dk {dtype}")

    def test_lengths_one_above_a_multiple_of_32(self):
        for dtype in EVERY_TYPE:
            for tokens in (1, 33, 65, 97, 129, 193):
                q, k, v = self.heads((1, 2, tokens, 64), dtype)
                self.assert_near(attention(q, k, v)[0], formula(q, k, v), ONE_STEP[dtype],
                                 f"{tokens} tokens, {dtype}")

    def test_nothing_is_an_answer_to_nothing(self):
        for dtype in EVERY_TYPE:
            empty = self.random(0, 2, 3, 16, dtype=dtype)
            self.assertEqual(attention(empty, empty, empty)[0].shape, (0, 3, 32), f"B = 0, {dtype}")
            some, none = self.random(1, 2, 3, 16, dtype=dtype), self.random(1, 2, 0, 16, dtype=dtype)
            self.assertEqual(attention(none, some, some)[0].shape, (1, 0, 32), f"Nq = 0, {dtype}")
            ones = self.random(1, 3, 32, dtype=dtype)
            out, lse, dq, dk, _ = operators.gradients(some, none, none, ones)
            self.assertTrue((out == 0).all(), f"Nk = 0: out is 0, {dtype}")
            self.assertTrue((lse == -torch.inf).all(), f"Nk = 0: lse is -inf, {dtype}")
            self.assertTrue((dq == 0).all(), f"Nk = 0: dq is 0, {dtype}")
            self.assertEqual(dk.shape, none.shape, f"Nk = 0: dk, {dtype}")
            _, _, _, dk, dv = operators.gradients(none, some, some, ones[:, :0])
            self.assertTrue((dk == 0).all() and (dv == 0).all(), f"Nq = 0: dk, dv are 0, {dtype}")
            q, k, v = self.heads((2, 3, 1, 16), dtype)
            self.assertTrue(torch.equal(attention(q, k, v)[0], joined(v)), f"N = 1, {dtype}")

    def test_odd_widths_are_right_or_refused_by_name(self):
        for dtype in EVERY_TYPE:
            for width in (1, 3, 7, 12, 33, 65, 127, 129, 130, 192):
                q, k, v = self.heads((1, 2, 9, width), dtype)
                try:
                    out, _, *gradients = operators.gradients(q, k, v, joined(v))
                except RuntimeError as error:
                    self.assertRegex(str(error), r"attention.*(head width|D\b|wide|width)",
                                     f"width {width}, {dtype}: a refusal must say what is wrong")
                    continue
                self.assert_near(out, formula(q, k, v), ONE_STEP[dtype], f"width {width}, {dtype}")
                self.assertTrue(all(g.isfinite().all() for g in gradients), f"width {width}, {dtype}")

    # Memory.

    def test_a_packed_projection_is_read_in_place(self):
        for dtype in EVERY_TYPE:
            packed = self.random(2, 197, 3, 12, 64, dtype=dtype)
            q, k, v = packed.permute(2, 0, 3, 1, 4)
            called = self.called_operators(lambda q=q, k=k, v=v: attention(q, k, v))
            self.assertIn("vitascope::attention", called, "the counter of operators counts nothing")
            copies = called & {"aten::copy_", "aten::clone", "aten::contiguous", "aten::to"}
            self.assertFalse(copies, f"the operands were copied, {dtype}")
            self.assert_near(attention(q, k, v)[0], formula(q, k, v), ONE_STEP[dtype], str(dtype))

    @needs_gpu
    def test_memory_does_not_grow_with_the_square_of_tokens(self):
        q, k, v = self.heads((1, 16, 4096, 64), torch.bfloat16)
        attention(q, k, v)  # what is allocated once
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        out, lse, *_ = operators.gradients(q, k, v, joined(v))
        peak = torch.cuda.max_memory_allocated() - before
        # out, three gradients and dout are as large as q; lse and delta are small.
        self.assertLess(peak, 8 * q.nbytes, f"scores would take {16 * 4096**2 * 2} bytes")
        self.assertEqual((out.shape, lse.shape), ((1, 4096, 1024), (1, 16, 4096)))

    def test_offsets_between_rows_take_more_than_32_bits(self):
        self.need_memory(10)
        for dtype in EVERY_TYPE:
            buffer = torch.empty(FAR + 64, dtype=dtype, device=self.device)
            rows = buffer.as_strided((1, 1, 2, 32), (0, 0, FAR, 1))
            pictures = buffer.as_strided((2, 1, 1, 32), (FAR, 0, 0, 1))
            rows.copy_(self.random(1, 1, 2, 32, dtype=dtype))
            near = rows.contiguous()
            out, _, *gradients = operators.gradients(rows, rows, rows, joined(near))
            self.assert_near(out, formula(near, near, near), ONE_STEP[dtype], f"rows {dtype}")
            for ours, expected in zip(gradients, operators.gradients(near, near, near, joined(near))[2:]):
                self.assertTrue(torch.equal(ours, expected), f"gradients {dtype}")
            out = attention(pictures, pictures, pictures)[0]
            self.assertTrue(torch.equal(out, joined(pictures)), f"pictures {dtype}")
            del buffer, rows, pictures

    @needs_gpu
    def test_results_of_more_than_2_31_elements(self):
        self.need_memory(24)
        batch, width = FAR // 128, 128
        one = torch.ones(1, 1, 1, width, dtype=torch.bfloat16, device=self.device)
        q = one.expand(batch, 1, 1, width)
        v = torch.arange(batch, device=self.device).remainder(251).to(torch.bfloat16)
        v = v[:, None, None, None].expand(batch, 1, 1, width)
        out, lse, *gradients = operators.gradients(q, q, v, one[0].expand(batch, 1, width))
        # With one key, out is v and dv is dout.
        for begin in range(0, batch, 2**20):
            part = slice(begin, begin + 2**20)
            self.assertTrue(torch.equal(out[part], joined(v[part])), f"out from picture {begin} on")
            self.assertTrue((gradients[2][part] == 1).all(), f"dv from picture {begin} on")
            self.assertTrue((gradients[0][part] == 0).all(), f"dq from picture {begin} on")
        self.assertTrue(lse.isfinite().all(), "lse")

    def test_gradients_of_any_stride(self):
        for dtype in EVERY_TYPE:
            q, k, v, dout = self.heads((2, 3, 33, 32), dtype, count=4)
            dout = joined(dout)
            expected = operators.gradients(q, k, v, dout)[2:]
            transposed = dout.permute(2, 1, 0).contiguous().permute(2, 1, 0)
            spread = torch.stack([dout, dout], -1).flatten(2)[..., ::2]
            shifted = torch.cat([dout.flatten()[:1], dout.flatten()])[1:].view(dout.shape)
            for name, strange in (("transposed", transposed), ("spread", spread), ("shifted", shifted)):
                for ours, right in zip(operators.gradients(q, k, v, strange)[2:], expected):
                    self.assertTrue(torch.equal(ours, right), f"{name} dout, {dtype}")
            out, _ = attention(*(t.requires_grad_() for t in (q, k, v)))
            out.sum().backward()  # its gradient is one number with strides of 0
            right = operators.gradients(q, k, v, torch.ones_like(dout))[2]
            self.assertTrue(torch.equal(q.grad, right), f"expanded dout, {dtype}")

    def test_operands_whose_last_dimension_is_strided_or_that_are_not_aligned(self):
        for dtype in EVERY_TYPE:
            q, k, v = self.heads((1, 2, 37, 24), dtype)
            expected = attention(q, k, v)[0]
            strided = [t.transpose(2, 3).contiguous().transpose(2, 3) for t in (q, k, v)]
            shifted = [torch.cat([t.flatten()[:1], t.flatten()])[1:].view(t.shape) for t in (q, k, v)]
            for name, operands in (("strided", strided), ("shifted by one element", shifted)):
                self.assert_near(attention(*operands)[0], expected, ONE_STEP[dtype], f"{name}, {dtype}")

    # What may not leak, and what must repeat.

    def test_hidden_keys_leak_nothing_whatever_they_hold(self):
        for dtype in EVERY_TYPE:
            q, k, v, dout = self.heads((2, 2, 70, 64), dtype, count=4)
            visible = torch.ones(2, 1, 1, 70, dtype=torch.bool, device=self.device)
            visible[:, :, :, 40:] = False
            lengths = torch.full((2,), 40, device=self.device)
            bias = torch.zeros(1, 1, 1, 70, device=self.device).masked_fill(~visible[:1], -torch.inf)
            poisoned = [t.clone() for t in (k, v)]
            for tensor, value in zip(poisoned, (torch.nan, torch.inf)):
                tensor[:, :, 40:] = value
            expected = operators.gradients(q, k[:, :, :40], v[:, :, :40], joined(dout))
            for name, options in (("mask", {"mask": visible}), ("lengths", {"key_lengths": lengths}),
                                  ("bias", {"bias": bias})):
                out, lse, dq, dk, dv = operators.gradients(q, *poisoned, joined(dout), **options)
                for ours, right in zip((out, lse, dq, dk[:, :, :40], dv[:, :, :40]), expected):
                    self.assert_near(ours, right, 4 * ONE_STEP[dtype], f"{name}, {dtype}")
                self.assertTrue((dk[:, :, 40:] == 0).all() and (dv[:, :, 40:] == 0).all(),
                                f"{name}, {dtype}: hidden keys have a gradient")
                rows = operators.attention_map(q, poisoned[0], lse, **options)
                self.assertTrue((rows[..., 40:] == 0).all(), f"{name}, {dtype}: map")
                rows = operators.attention_map_gradient(q, *poisoned, joined(dout), **options)
                self.assertTrue((rows[..., 40:] == 0).all(), f"{name}, {dtype}: map gradient")

    def test_scores_of_a_hundred_thousand_in_half_precision(self):
        q = torch.full((1, 1, 4, 64), 200.0, dtype=torch.float16, device=self.device)
        k = torch.full((1, 1, 5, 64), 200.0, dtype=torch.float16, device=self.device)
        k[0, 0, 3, 0] = 201  # its score is 200 above the others'
        v = torch.arange(5.0, device=self.device).half()[None, None, :, None].expand(1, 1, 5, 64)
        self.assertTrue((attention(q, k, v, scale=1.0)[0] == 3).all())

    def test_repeated_runs_are_bit_equal(self):
        for dtype in EVERY_TYPE:
            q, k, v, dout = self.heads((4, 6, 197, 64), dtype, count=4)
            first = operators.gradients(q, k, v, joined(dout))
            for run in range(1, 3 if self.device == "cpu" else 20):
                for name, ours, expected in zip(("out", "lse", "dq", "dk", "dv"),
                                                operators.gradients(q, k, v, joined(dout)), first):
                    self.assertTrue(torch.equal(ours, expected), f"{name} of run {run}, {dtype}")

    def test_dropout_follows_its_seed_on_every_device(self):
        q, k, v, dout = self.heads((2, 2, 40, 16), count=4)
        options = {"dropout": 0.3, "seed": 77}
        ours = operators.gradients(q, k, v, joined(dout), **options)
        on_cpu = operators.gradients(q.cpu(), k.cpu(), v.cpu(), joined(dout).cpu(), **options)
        for name, one, other in zip(("out", "lse", "dq", "dk", "dv"), ours, on_cpu):
            self.assert_near(one.cpu(), other, 1e-4, name)
        flat, ones = torch.zeros_like(q), torch.ones_like(v)
        kept = attention(flat, flat, ones, **options)[0]
        self.assertAlmostEqual(kept.mean().item(), 1, delta=0.05, msg="share of what is kept")
        other = attention(flat, flat, ones, dropout=0.3, seed=78)[0]
        self.assertFalse(torch.equal(kept, other), "another seed drops the same places")

    # LibTorch's conventions.

    def test_gradients_of_gradients_are_refused_in_words(self):
        q = self.random(1, 1, 3, 16).requires_grad_()
        out, _ = attention(q, q, q)
        (gradient,) = torch.autograd.grad(out.square().sum(), q, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "gradients of gradients"):
            gradient.sum().backward()

    def test_what_does_not_fit_is_refused_in_words(self):
        q, k, v = self.heads((1, 2, 5, 16))
        for name, call in {
            "shapes": lambda: attention(q, k[..., :8], v),
            "types": lambda: attention(q, k.half(), v),
            "float64": lambda: attention(q.double(), k.double(), v.double()),
            "mask": lambda: attention(q, k, v, mask=torch.ones(5, dtype=torch.bool, device=q.device)),
            "rows": lambda: operators.attention_map(q, k, attention(q, k, v)[1], rows=torch.tensor([5])),
        }.items():
            with self.assertRaisesRegex(RuntimeError, "attention", msg=name):
                call()

    @needs_gpu
    def test_operands_on_different_devices_are_refused(self):
        q, k, v = self.heads((1, 2, 5, 16))
        with self.assertRaisesRegex(RuntimeError, "devices"):
            attention(q, k.cpu(), v)

    @needs_gpu
    def test_work_goes_to_the_current_stream(self):
        q, k, v, dout = self.heads((2, 4, 197, 64), torch.bfloat16, count=4)
        expected = [t.cpu() for t in operators.gradients(q, k, v, joined(dout))]
        late = torch.full_like(q, torch.nan)
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            operators.gradients(late, k, v, joined(dout))  # memory of this stream, full of NaN
        torch.cuda.synchronize()
        sleep_on_gpu()
        with torch.cuda.stream(side):
            torch.cuda._sleep(50_000_000)  # pylint: disable=protected-access
            late.copy_(q)  # read before, it is NaN
            ours = operators.gradients(late, k, v, joined(dout))
            ours = [t.cpu() for t in ours]  # waits for the side stream alone
            still_asleep = not torch.cuda.default_stream().query()
        torch.cuda.synchronize()
        for name, one, right in zip(("out", "lse", "dq", "dk", "dv"), ours, expected):
            self.assertTrue(torch.equal(one, right), f"{name} was made on another stream")
        self.assertTrue(still_asleep, "the work waited for the default stream")

    @needs_gpu
    def test_work_goes_to_the_device_of_its_operands(self):
        if torch.cuda.device_count() < 2:
            self.skipTest("there is one GPU only")
        here = self.heads((2, 4, 65, 64), torch.bfloat16, count=4)
        there = [t.to("cuda:1") for t in here]
        expected = operators.gradients(*here[:3], joined(here[3]))
        ours = operators.gradients(*there[:3], joined(there[3]))
        self.assertEqual(torch.cuda.current_device(), 0, "the current device was changed")
        for name, one, right in zip(("out", "lse", "dq", "dk", "dv"), ours, expected):
            self.assertEqual(one.device, torch.device("cuda:1"), name)
            self.assert_near(one.cpu(), right.cpu(), 0.05, name)

    def test_the_gpu_kernels_say_what_they_serve(self):
        if self.device == "cpu":
            self.skipTest("only the GPU's kernels have limits")
        refusal = torch.ops.vitascope.attention_refusal
        for width in (16, 64, 80, 128):
            self.assertEqual(refusal(self.random(1, 1, 197, width, dtype=torch.bfloat16)), "")
        self.assertNotEqual(refusal(self.random(1, 1, 197, 192, dtype=torch.bfloat16)), "")


if __name__ == "__main__":
    operators.main(__doc__)
