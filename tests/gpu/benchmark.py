#!/usr/bin/env python3
"""Our kernels beside those of LibTorch's scaled_dot_product_attention, at a vision transformer's sizes.

Batches of 32 pictures; 12 heads of 64 (ViT-B), 16 of 80 (ViT-H), 16 of 128. Ours reads the packed
projection [B, N, 3, H, D] and writes [B, N, H * D]; LibTorch's get contiguous [B, H, N, D], and dout in
the layout of their own out. All take turns, one call each a round, in an order that moves on; figures
are medians over the rounds. On a GPU, CUDA events time a call; before each, its L2 cache is
overwritten, and each round begins behind a sleeping kernel, so that no wait for a launch is timed.
Memory comes from LibTorch's allocator. A ratio is the quickest other backend's time over ours.
"""

import json
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

import operators
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

BATCH = 32
HEADS = {64: 12, 80: 16, 128: 16}
TOKENS = [197, 257, 577, 1025, 1370]
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION,
            "cudnn": SDPBackend.CUDNN_ATTENTION}
# Products of a pass; backward makes the scores again.
FLOATING_POINT_OPERATIONS = {"forward": 4, "backward": 10}
SLEEP_CYCLES = 4_000_000
# What is asked of us: to be the quickest up to so many tokens, and above at least this near to it.
SHORT, NEAR_ENOUGH = 577, 0.8
SMI_FIELDS = ["name", "driver_version", "clocks.sm", "clocks.max.sm", "clocks.mem", "power.limit",
              "temperature.gpu"]


def ours(q, k, v):
    return operators.attention(q, k, v)[0]


def theirs(backend):
    def call(q, k, v):
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v)
    return call


class Problem:
    """Operands of one size, and the calls that are compared on them."""

    def __init__(self, tokens, width, dtype, device, batch):
        self.tokens, self.width, self.dtype = tokens, width, dtype
        self.batch, self.heads = batch, HEADS[width]
        packed = torch.randn(batch, tokens, 3, self.heads, width, device=device, dtype=dtype)
        self.packed = packed.permute(2, 0, 3, 1, 4)
        self.apart = [t.contiguous() for t in self.packed]
        self.dout = torch.randn(batch, tokens, self.heads * width, device=device, dtype=dtype)
        self.refusals, self.answer, self.difference = {}, None, None

    def flops(self, direction):
        scores = self.batch * self.heads * self.tokens**2
        return FLOATING_POINT_OPERATIONS[direction] * scores * self.width

    def candidates(self):
        return {"vitascope": (ours, self.packed),
                **{name: (theirs(backend), self.apart) for name, backend in BACKENDS.items()}}

    def calls(self, direction):
        """By name, what is to be timed. A backend that refuses goes into `refusals`, with its words."""
        ready = {}
        for name, (function, operands) in self.candidates().items():
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                try:
                    call, out = self.prepare(direction, function, operands)
                    call()
                except RuntimeError as error:
                    if name == "vitascope":
                        raise
                    words = [str(warning.message).split(" (Triggered")[0] for warning in said]
                    self.refusals[name] = "; ".join([*words, str(error).splitlines()[0]])
                    continue
            ready[name] = call
            self.compare(name, out)
        return ready

    def prepare(self, direction, function, operands):
        if direction == "forward":
            return lambda: function(*operands), function(*operands)
        leaves = [t.detach().requires_grad_() for t in operands]
        out = function(*leaves)
        # Each gets the gradient in the layout of its own out.
        dout = self.dout if out.dim() == 3 else torch.empty_like(out.detach()).copy_(
            operators.split(self.dout, self.heads))
        return lambda: torch.autograd.grad(out, leaves, dout, retain_graph=True), out.detach()

    def compare(self, name, out):
        """Remembers how far we are from the others: a quick wrong answer is no answer."""
        if name == "vitascope":
            self.answer = out
            return
        difference = (operators.joined(out).float() - self.answer.float()).abs().max().item()
        self.difference = max(difference, self.difference or 0)
        assert difference < 0.05, f"{name} and ours differ by {difference}"


class Clock:
    """Times calls that take turns."""

    def __init__(self, device, rounds):
        self.device, self.rounds = device, rounds
        if device == "cuda":
            cache = torch.cuda.get_device_properties(0).L2_cache_size
            self.flushed = torch.empty(max(2 * cache, 2**26), dtype=torch.uint8, device=device)

    def medians(self, calls):
        """Milliseconds of each call."""
        times = {name: [] for name in calls}
        names = list(calls)
        for round_number in range(self.rounds):
            first = round_number % len(names)
            if self.device == "cuda":
                torch.cuda._sleep(SLEEP_CYCLES)  # pylint: disable=protected-access
            for name in names[first:] + names[:first]:
                times[name].append(self.timed(calls[name]))
        if self.device == "cuda":
            torch.cuda.synchronize()
            times = {name: [begin.elapsed_time(end) for begin, end in pairs]
                     for name, pairs in times.items()}
        return {name: statistics.median(values) for name, values in times.items()}

    def timed(self, call):
        if self.device == "cpu":
            begin = time.perf_counter()
            call()
            return 1e3 * (time.perf_counter() - begin)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.flushed.zero_()
        begin.record()
        call()
        end.record()
        return begin, end


def measure(problem, direction, clock):
    """One row of the report."""
    calls = problem.calls(direction)
    times = clock.medians(calls)
    others = {name: times[name] for name in BACKENDS if name in times}
    best = min(others, key=others.get, default=None)
    flops = problem.flops(direction)
    return {
        "tokens": problem.tokens, "head_width": problem.width, "batch": problem.batch,
        "heads": problem.heads, "precision": str(problem.dtype).removeprefix("torch."),
        "direction": direction,
        "milliseconds": {name: times.get(name) for name in ("vitascope", *BACKENDS)},
        "tflops": {name: flops / times[name] / 1e9 if name in times else None
                   for name in ("vitascope", *BACKENDS)},
        "refusals": dict(problem.refusals), "largest_difference": problem.difference,
        "best_other": best, "ratio": others[best] / times["vitascope"] if best else None,
    }


def kernel_names(problem, direction):
    """Which kernels of the GPU ran, by backend, as LibTorch's profiler saw them; else why it did not."""
    names = {}
    activities = [torch.profiler.ProfilerActivity.CUDA]
    try:
        for name, call in problem.calls(direction).items():
            with torch.profiler.profile(activities=activities) as profile:
                call()
                torch.cuda.synchronize()
            names[name] = sorted({event.name for event in profile.events()
                                  if event.device_type == torch.autograd.DeviceType.CUDA})
    except (AssertionError, RuntimeError) as error:  # the first where CUPTI does not answer
        return f"unknown: {error}"
    return names


def smi():
    """What nvidia-smi says at this moment; nothing where it is not there."""
    command = ["nvidia-smi", f"--query-gpu={','.join(SMI_FIELDS)}", "--format=csv,noheader", "--id=0"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return dict(zip(SMI_FIELDS, answer.strip().split(", "), strict=False))


def smi_at_work(device):
    """The same while the GPU is busy: at rest its clocks say nothing."""
    if device == "cuda":
        matrix = torch.ones(8192, 8192, device=device, dtype=torch.bfloat16)
        for _ in range(200):
            matrix @ matrix  # pylint: disable=pointless-statement
    answer = smi()
    if device == "cuda":
        torch.cuda.synchronize()
    return answer


def missed(row):
    """Whether a row falls short of what is asked of us."""
    asked = 1 if row["tokens"] <= SHORT else NEAR_ENOUGH
    return row["ratio"] is not None and row["ratio"] < asked


def summary(rows):
    """Ratios as a table, and where we are the best and where not near enough."""
    yield f"{'':24}" + "".join(f"{'N = ' + str(n):>22}" for n in sorted({r['tokens'] for r in rows}))
    lines = {}
    for row in rows:
        key = f"{row['precision']:9}{row['direction']:9}D = {row['head_width']}"
        ratio = "no other" if row["ratio"] is None else f"{row['ratio']:.2f} of {row['best_other']}"
        lines.setdefault(key, []).append(f"{row['tflops']['vitascope']:.1f} ({ratio})")
    for key, cells in lines.items():
        yield f"{key:24}" + "".join(f"{cell:>22}" for cell in cells)
    compared = [row for row in rows if row["ratio"] is not None]
    best, near = ([r for r in compared if r["ratio"] >= least] for least in (1, NEAR_ENOUGH))
    yield (f"TFLOP/s, and the quickest other's time over ours. Ours is the quickest in {len(best)} of "
           f"{len(compared)} rows, at least {NEAR_ENOUGH} of it in {len(near)}.")
    for row in filter(missed, rows):
        yield (f"missed: {row['precision']} {row['direction']} N = {row['tokens']} "
               f"D = {row['head_width']}: {row['ratio']:.2f} of {row['best_other']}")


def main():
    parser = operators.arguments_parser(__doc__)
    parser.add_argument("--tokens", type=lambda text: [int(n) for n in text.split(",")], default=TOKENS)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", type=Path, help="where the report goes (default: stdout)")
    arguments = parser.parse_args()
    operators.load(arguments.libraries, arguments.device)
    torch.manual_seed(1)
    clock = Clock(arguments.device, arguments.rounds)
    report = {"device": arguments.device, "rounds": arguments.rounds, "torch": torch.__version__,
              "cudnn": torch.backends.cudnn.version(), "l2_flushed": arguments.device == "cuda",
              "nvidia_smi_before": smi_at_work(arguments.device), "rows": []}
    sizes = [(tokens, width, dtype) for dtype in (torch.bfloat16, torch.float16) for width in HEADS
             for tokens in arguments.tokens]
    for direction in FLOATING_POINT_OPERATIONS:
        for size in sizes:
            problem = Problem(*size, arguments.device, arguments.batch)
            report["rows"].append(measure(problem, direction, clock))
    report["nvidia_smi_after"] = smi_at_work(arguments.device)
    if arguments.device == "cuda":
        # Last: a profiler that was there once slows launches.
        for row, (direction, size) in zip(report["rows"], ((d, s) for d in FLOATING_POINT_OPERATIONS
                                                           for s in sizes), strict=True):
            row["kernels"] = kernel_names(Problem(*size, arguments.device, arguments.batch),
                                          direction)
    report["missed"] = [[row["precision"], row["direction"], row["tokens"], row["head_width"]]
                        for row in filter(missed, report["rows"])]
    print("\n".join(summary(report["rows"])), file=sys.stderr)
    text = json.dumps(report, indent=1)
    if arguments.json:
        arguments.json.write_text(text + "\n")
    else:
        print(text)


if __name__ == "__main__":
    main()
