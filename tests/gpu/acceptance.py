#!/usr/bin/env python3
"""Builds the kernels for this machine's GPU, tests and measures them. tests/gpu.sh starts it.

Each step has a limit, so that all of them end within 8 minutes; a step that fails does not keep the
others from running, but for the build.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build-kernels"
TORCH = Path(torch.__path__[0])
OLDEST = (8, 0)
NO_GPU, MISSING = 3, 4  # exit statuses
# Seconds; together below 8 minutes.
LIMITS = {"configure": 30, "build": 150, "tests": 90, "memcheck": 60, "racecheck": 70, "benchmark": 70}
FINDINGS = 99  # exit status that compute-sanitizer is told to give them


def fail(status, message):
    print(f"gpu.sh: error: {message}", file=sys.stderr)
    sys.exit(status)


def gpu():
    """The GPU that is going to be used. Ends the script where there is none for our kernels."""
    if torch.version.cuda is None:
        fail(MISSING, f"the torch in {TORCH} was built without CUDA; install PyPI's for Linux")
    if not torch.cuda.is_available():
        fail(NO_GPU, "no GPU: torch finds none that answers (nvidia-smi shows what the driver sees)")
    properties = torch.cuda.get_device_properties(0)
    capability = properties.major, properties.minor
    if capability < OLDEST:
        fail(NO_GPU, f"{properties.name} is sm_{capability[0]}{capability[1]}; the kernels need sm_80 "
                     "or newer")
    return {"name": properties.name, "compute_capability": "%d.%d" % capability,
            "multiprocessors": properties.multi_processor_count,
            "memory_bytes": properties.total_memory, "l2_bytes": properties.L2_cache_size}


class Steps:
    """Runs the steps and remembers how each ended."""

    def __init__(self, patience):
        self.ended = {}
        self.patience = patience  # by which the limits are multiplied

    def run(self, name, command, environment=None):
        """Runs a command within the limit of its step. Returns what it printed."""
        print(f"== {name}", file=sys.stderr, flush=True)
        log, limit, begin = BUILD / f"{name}.log", self.patience * LIMITS[name], time.monotonic()
        with log.open("w") as output:
            # A group of its own, so that what it started ends with it.
            process = subprocess.Popen([str(word) for word in command], stdout=output,
                                       stderr=subprocess.STDOUT, start_new_session=True,
                                       env={**os.environ, **(environment or {})})
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                status = None
        text = log.read_text(errors="replace")
        result = {0: "passed", None: f"not done within {limit} s"}.get(status, "failed")
        self.note(name, result, log=str(log.relative_to(ROOT)), status=status,
                  seconds=round(time.monotonic() - begin, 1))
        if status != 0:
            print(text[-4000:], file=sys.stderr)
        return text

    def note(self, name, result, **more):
        self.ended[name] = {"result": result, **more}
        print(f"   {name}: {result}", file=sys.stderr, flush=True)

    def passed(self, name):
        return self.ended[name]["result"] == "passed"


def configure(steps, device):
    command = ["cmake", "-S", ROOT, "-B", BUILD, "-DVITASCOPE_KERNELS_ONLY=ON",
               "-DVITASCOPE_WERROR=OFF", f"-DVITASCOPE_TORCH={TORCH}",
               f"-DPython3_EXECUTABLE={sys.executable}"]
    architecture = "90"
    if device:
        architecture = device["compute_capability"].replace(".", "")
        command += ["-DVITASCOPE_CUDA=ON"]
    command += [f"-DCMAKE_CUDA_ARCHITECTURES={architecture}"]
    text = steps.run("configure", command)
    if not steps.passed("configure"):
        missing = "nvcc" in text[text.find("CMake Error"):]
        fail(MISSING if missing else 1, "CMake could not configure; what it says is above")


def sanitize(steps, tool, arguments):
    """One of compute-sanitizer's tools on the golden problems of at most 200 tokens."""
    sanitizer = shutil.which("compute-sanitizer", path=os.pathsep.join(
        [os.environ.get("PATH", ""), "/usr/local/cuda/bin"]))
    if arguments.dry_run or sanitizer is None:
        steps.note(tool, "not run: compute-sanitizer is not installed (it comes with the CUDA toolkit)"
                   if sanitizer is None else "not run: there is no GPU")
        return
    # LibTorch asks the driver for what may not be there, which is no error of ours.
    text = steps.run(tool, [
        sanitizer, "--tool", tool, "--kernel-name", "kernel_substring=vitascope", "--target-processes",
        "all", "--error-exitcode", FINDINGS, "--report-api-errors", "no", sys.executable, "-B",
        ROOT / "tests/gpu/attention_golden_test.py", "--libraries", BUILD, "--small"])
    summaries = [line.strip("= ") for line in text.splitlines() if "SUMMARY" in line]
    steps.ended[tool]["summary"] = summaries
    if steps.passed(tool) and not summaries:
        steps.note(tool, "failed", summary="compute-sanitizer ended without a summary")


def benchmark(steps, arguments):
    answer = BUILD / "benchmark.json"
    answer.unlink(missing_ok=True)
    command = [sys.executable, "-B", ROOT / "tests/gpu/benchmark.py", "--libraries", BUILD, "--json", answer]
    if arguments.dry_run:
        command += ["--device", "cpu", "--tokens", "50,197", "--batch", "1", "--rounds", "3"]
    text = steps.run("benchmark", command)
    if not steps.passed("benchmark"):
        return None
    print(text, file=sys.stderr)
    return json.loads(answer.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("output", nargs="?", type=Path, default=BUILD / "gpu.json")
    arguments = parser.parse_args()
    # Without a GPU nobody waits for results, and the machine may be a small one.
    begin, steps = time.monotonic(), Steps(patience=5 if arguments.dry_run else 1)
    device = None if arguments.dry_run else gpu()
    BUILD.mkdir(exist_ok=True)
    configure(steps, device)
    steps.run("build", ["cmake", "--build", BUILD, "--parallel",
                        len(os.sched_getaffinity(0))])
    report = {"gpu": device, "dry_run_on_cpu": arguments.dry_run, "torch": torch.__version__,
              "steps": steps.ended, "benchmark": None}
    if steps.passed("build"):
        steps.run("tests", ["ctest", "--test-dir", BUILD, "-L", "gpu", "--output-on-failure",
                            "--no-tests=error"],
                  {"VITASCOPE_REQUIRE_GPU": "1",
                   "VITASCOPE_TEST_DEVICE": "cpu" if arguments.dry_run else "cuda"})
        for tool in ("memcheck", "racecheck"):
            sanitize(steps, tool, arguments)
        report["benchmark"] = benchmark(steps, arguments)
    report["seconds"] = round(time.monotonic() - begin, 1)
    arguments.output.write_text(json.dumps(report, indent=1) + "\n")
    for name, step in steps.ended.items():
        print(f"{name:10} {step['result']}", file=sys.stderr)
    print(f"The report is {arguments.output}.", file=sys.stderr)
    good = all(step["result"] == "passed" or step["result"].startswith("not run")
               for step in steps.ended.values())
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
