"""What the comparisons share: running a command with its figures, and the table of all rounds."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MEGABYTE = 1e6


def run(command):
    """Runs a command. Returns its stdout, and figures: seconds, of a processor too, and peak memory."""
    start = time.perf_counter()
    words = [str(word) for word in command]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True)
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        if os.waitstatus_to_exitcode(status) != 0:
            errors.seek(0)
            sys.exit(f"{' '.join(words)} failed:\n{errors.read()}")
    return out, {"seconds": seconds, "cpu_seconds": usage.ru_utime + usage.ru_stime,
                 "megabytes": usage.ru_maxrss * 1024 / MEGABYTE}


class Comparison:
    """Figures by row and column, one a round, and the goals that they must meet."""

    def __init__(self, name, title):
        self.name, self.title = name, title
        self.figures, self.goals = {}, []

    def add(self, side, **figures):
        for what, figure in figures.items():
            self.figures.setdefault(side, {}).setdefault(what, []).append(figure)

    def median(self, side, what):
        return statistics.median(self.figures[side][what])

    def goal(self, words, met):
        self.goals.append({"goal": words, "met": met})

    def print(self):
        print(f"\n{self.title}")
        for side, figures in self.figures.items():
            print(f"  {side}")
            for what, f in figures.items():
                print(f"    {what.replace('_', ' '):<18} {statistics.median(f):>8.4g}"
                      f"   ({min(f):.4g} to {max(f):.4g})")
        for goal in self.goals:
            print(f"  {'met   ' if goal['met'] else 'MISSED'} {goal['goal']}")

    def as_json(self):
        return {"title": self.title, "figures": self.figures, "goals": self.goals}


def machine(options):
    from importlib.metadata import version

    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "?")
    packages = ("torch", "timm", "transformers", "onnxruntime", "scikit-learn")
    return {"cpu": model, "threads": options.threads, "rounds": options.rounds,
            "python": {name: version(name) for name in packages}}


def parse_options(words, comparisons, folder, json_name, more=lambda parser: None):
    """The options of a script: `words` are its docstring; `more` adds those that it has alone."""
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", type=Path, default=folder.parent / "vitascope")
    more(parser)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", default=",".join(comparisons), help=",".join(comparisons))
    parser.add_argument("--json", type=Path, default=folder / json_name)
    options = parser.parse_args()
    unknown = set(options.only.split(",")) - set(comparisons)
    if unknown:
        parser.error(f"--only: no comparison '{unknown.pop()}'; there are {', '.join(comparisons)}")
    return options


def run_all(comparisons, options):
    """Every comparison that --only names, round by round. \return the exit status"""
    facts = machine(options)
    print(f"{facts['cpu']}, {options.threads} threads, medians of {options.rounds} rounds (least to most)")
    print(", ".join(f"{name} {version}" for name, version in facts["python"].items()))
    results = []
    for name in options.only.split(","):
        title, round_of, goals_of = comparisons[name]
        result = Comparison(name, title)
        for _ in range(options.rounds):
            round_of(result, options)
        goals_of(result, options)
        result.print()
        results.append(result)
    options.json.write_text(json.dumps(facts | {r.name: r.as_json() for r in results}, indent=1) + "\n")
    print(f"\nEvery figure: {options.json}")
    return any(not goal["met"] for result in results for goal in result.goals)
