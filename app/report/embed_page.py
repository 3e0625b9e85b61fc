#!/usr/bin/env python3
"""Writes pages as C++ source, so that the program needs no file when it runs.

    embed_page.py OUTPUT PAGE.html...

A page names its style sheets and scripts as <style>{{a.css b.css}}</style>, <script>{{a.js}}</script>:
files beside it, which are put there, and their hashes into its Content-Security-Policy, so that a
browser uses these and no others. {{photo}} and {{report}} are what the program puts there: they cut
the page into the pieces of its array, which is kPage for page.html.
"""

import base64
import hashlib
import pathlib
import re
import sys

PARTS = re.compile(r"<(style|script)>\{\{([^{}]+)\}\}</\1>")


def policy_hash(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def complete(path):
    """The text of a page with all its parts, in pieces."""
    page = path.read_text(encoding="utf-8")
    found = PARTS.findall(page)
    if [kind for kind, _ in found] != ["style", "script"]:
        sys.exit(f"{path}: expected one <style>{{{{...}}}}</style> and one <script>, found {found}")
    for kind, names in found:
        text = "\n".join((path.parent / name).read_text(encoding="utf-8") for name in names.split())
        for slot, content in (("{{%s hash}}" % kind, policy_hash(text)), ("{{%s}}" % names, text)):
            if page.count(slot) != 1:
                sys.exit(f"{path}: expected {slot} once, found it {page.count(slot)} times")
            page = page.replace(slot, content)
    return re.split(r"\{\{(?:photo|report)\}\}", page)


def array(path):
    """The definition of the page's array."""
    pieces = complete(path)
    name = "k" + "".join(word.capitalize() for word in path.stem.split("_"))
    texts = ",\n".join(f'R"~page~({piece})~page~"' for piece in pieces)
    return f"const std::array<std::string_view, {len(pieces)}> {name}{{{texts}}};\n"


def main():
    output, *pages = map(pathlib.Path, sys.argv[1:])
    output.write_text(
        '#include "app/report/page.h"\n\nnamespace vitascope::app::report {\n\n'
        + "\n".join(map(array, pages)) + "\n}  // namespace vitascope::app::report\n",
        encoding="utf-8")


if __name__ == "__main__":
    main()
