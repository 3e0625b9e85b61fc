#!/usr/bin/env python3
"""clang-tidy for the build target `lint`.

    lint.py precompile CLANG BUILD            the precompiled header once more, in clang's form
    lint.py check CLANG_TIDY BUILD SOURCE STAMP   one file; touches STAMP and writes STAMP.d

The build's compiler may be GCC, whose precompiled header and warning flags mean nothing to clang, so
only include paths, definitions and the language level are taken over from the build. LibTorch's
headers cost most of the time: files that include them use clang's precompiled header.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBTORCH = re.compile(r'#include <(ATen|torch|c10)/')
OWN = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def flags_of(build, source):
    """What clang needs of the build's command line for `source`, and the header forced into it."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"] == str(source):
            break
    else:
        sys.exit(f"lint: {source} is not in {build}/compile_commands.json")
    words = shlex.split(entry["command"])
    flags, forced = ["-w"], None
    for word, following in zip(words, words[1:] + [""]):
        if word == "-isystem":
            flags += [word, following]
        elif word == "-include":
            forced = following
        elif re.match(r"-[DI]|-std=", word):
            flags.append(word)
    return flags, forced


def own_headers(source):
    """The headers of this project that `source` includes, directly or through others."""
    found, waiting = set(), [source]
    while waiting:
        for name in OWN.findall(waiting.pop().read_text()):
            header = ROOT / name
            if header not in found and header.exists():
                found.add(header)
                waiting.append(header)
    return sorted(found)


def precompile(clang, build):
    flags, forced = flags_of(build, build / "precompiled.cpp")
    if forced is None:  # the build makes the header from this very file
        forced = next(build.rglob("vitascope_precompiled.dir/cmake_pch.hxx"))
    output = build / "lint" / "headers.pch"
    output.parent.mkdir(exist_ok=True)
    subprocess.run([clang, *flags, "-x", "c++-header", str(forced), "-o", str(output)], check=True)


def check(tidy, build, source, stamp):
    flags, _ = flags_of(build, source)
    headers = own_headers(source)
    precompiled = build / "lint" / "headers.pch"
    if precompiled.exists() and any(LIBTORCH.search(f.read_text()) for f in [source, *headers]):
        flags += ["-include-pch", str(precompiled)]
    run = subprocess.run([tidy, "--quiet", str(source), "--", *flags], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stdout + ("" if run.stdout.strip() else run.stderr))
    dependencies = " ".join(str(h).replace(" ", "\\ ") for h in headers)
    pathlib.Path(f"{stamp}.d").write_text(f"{stamp.relative_to(build)}: {dependencies}\n")
    stamp.touch()


def main():
    action, program, build, *files = sys.argv[1:]
    if action == "precompile":
        precompile(program, pathlib.Path(build))
    else:
        check(program, pathlib.Path(build), *map(pathlib.Path, files))


main()
