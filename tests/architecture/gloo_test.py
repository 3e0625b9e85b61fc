"""Headers of Gloo that are older than the Gloo inside LibTorch serve to call, never to derive from:
no object file of ours may carry a table of virtual functions of Gloo's.

    gloo_test.py NM OBJECT...
"""

import subprocess
import sys

OURS = set("VvDdRrBb")  # defined in this file, weakly or not


def tables(listing):
    """Gloo's virtual tables that a listing of `nm --demangle` defines."""
    for line in listing.splitlines():
        kind, _, name = line[17:].partition(" ")
        if kind in OURS and name.startswith("vtable for gloo::"):
            yield name


def main(nm, objects):
    # The test can fail: lines as nm prints them.
    assert list(tables("0000000000000000 V vtable for gloo::transport::Pair")) != []
    assert list(tables("                 U vtable for gloo::transport::Pair")) == []
    assert objects, "no object file is given"
    seen_gloo = False
    found = []
    for path in objects:
        listing = subprocess.run(
            [nm, "--demangle", path], capture_output=True, text=True, check=True).stdout
        seen_gloo |= "ProcessGroupGloo" in listing
        found += [f"{path}: {name}" for name in tables(listing)]
    assert seen_gloo, "none of these object files calls Gloo: is it looked at in the right place?"
    print("\n".join(found) or "no virtual table of Gloo's is ours")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
