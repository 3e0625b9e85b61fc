#!/usr/bin/env python3
"""Writes the page of reports as C++ source, so that the program needs no file when it runs.

    embed_page.py FOLDER OUTPUT

FOLDER holds page.html, page.css, maps.js and page.js. Style and scripts are put into the page, and
their hashes into its Content-Security-Policy: a browser uses these and no others.
"""

import base64
import hashlib
import pathlib
import sys


def policy_hash(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def main():
    folder, output = map(pathlib.Path, sys.argv[1:])
    page, style, *scripts = (
        (folder / name).read_text(encoding="utf-8")
        for name in ("page.html", "page.css", "maps.js", "page.js"))
    script = "\n".join(scripts)
    for slot, text in (
        ("{{style hash}}", policy_hash(style)), ("{{script hash}}", policy_hash(script)),
        ("{{style}}", style), ("{{script}}", script),
    ):
        if page.count(slot) != 1:
            sys.exit(f"{folder}/page.html: expected {slot} once, found it {page.count(slot)} times")
        page = page.replace(slot, text)
    before, rest = page.split("{{photo}}")
    between, after = rest.split("{{report}}")
    pieces = ",\n".join(f'R"~page~({piece})~page~"' for piece in (before, between, after))
    output.write_text(
        '#include "app/report/page.h"\n\nnamespace vitascope::app::report {\n\n'
        f"const std::array<std::string_view, 3> kPage{{{pieces}}};\n\n"
        "}  // namespace vitascope::app::report\n", encoding="utf-8")


if __name__ == "__main__":
    main()
