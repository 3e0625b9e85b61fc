#!/usr/bin/env python3
"""clang-tidy for the build target `lint`.

    lint.py CLANG_TIDY BUILD STAMP SOURCE...   looks at the sources; touches STAMP and writes STAMP.d

LibTorch's headers cost most of the time of looking at a file, so the sources are looked at through
one file that includes them all. Where they do not compile so (two of them have an own thing of the
same name), each half is looked at alone.

The build's compiler may be GCC, whose precompiled header and warning flags mean nothing to clang, so
only include paths, definitions and the language level are taken over from the build.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
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


def own_headers(sources):
    """The headers of this project that the sources include, directly or through others."""
    found, waiting = set(), [*sources]
    while waiting:
        for name in OWN.findall(waiting.pop().read_text()):
            header = ROOT / name
            if header not in found and header.exists():
                found.add(header)
                waiting.append(header)
    return sorted(found)


def look(tidy, stamp, sources, flags, forced):
    """What is wrong with the sources."""
    through = stamp.with_suffix(".cpp")
    includes = [forced] * bool(forced) + sources
    through.write_text("".join(f'#include "{file}"\n' for file in includes))
    run = subprocess.run([tidy, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", str(through), "--",
                          *flags], capture_output=True, text=True)
    if run.returncode == 0:
        return ""
    said = run.stdout if run.stdout.strip() else run.stderr
    half = len(sources) // 2
    if half > 0 and "[clang-diagnostic-error]" in said:
        return "".join(look(tidy, stamp, part, flags, forced)
                       for part in (sources[:half], sources[half:]))
    return said


def main():
    tidy = sys.argv[1]
    build, stamp, *sources = map(pathlib.Path, sys.argv[2:])
    parts = {}  # the sources by their flags
    for source in sources:
        flags, forced = flags_of(build, source)
        parts.setdefault((tuple(flags), forced), []).append(source)
    said = "".join(look(tidy, stamp, part, *flags) for flags, part in parts.items())
    if said:
        sys.exit(said)
    dependencies = " ".join(str(h).replace(" ", "\\ ") for h in own_headers(sources))
    pathlib.Path(f"{stamp}.d").write_text(f"{stamp.relative_to(build)}: {dependencies}\n")
    stamp.touch()


main()
