"""The rules of the house, each a function from a source tree to the lines that break it.

A tree is a folder laid out like this repository. Rules read files only; nothing is compiled.
"""

import re
from pathlib import Path

FLOORS = {"app": 3, "datasets": 2, "vit": 1, "kernels": 0}
SOURCES = {".cpp", ".h", ".cu", ".cuh"}
HEADERS = {".h", ".cuh"}
MAX_LINES = 500
MAX_README_LINES = 60

# Order inside vit: a part includes those of a lower number only, and those of its own number only
# when it is the same part.
VIT_ORDER = {
    "root": 0, "image": 1, "model": 1, "metrics": 1, "weights": 2,
    "explain": 3, "train": 3, "quantize": 3, "caption": 4, "classifier": 5,
}
VIT_ROOT = {"error", "text", "json", "json_object", "file", "checksum", "random_numbers"}

TOP_LEVEL = {
    "CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE", ".clang-format", ".clang-tidy",
    ".gitignore", ".ci", ".cmake", "app", "configs", "datasets", "kernels", "tests", "vit",
}
EMPTY_NAMES = re.compile(r"(^|_)(utils?|helpers?|common|manager|misc)(_|$)")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
HEAVY = re.compile(r"^(ATen|torch|c10|opencv2)/")


def sources(tree, floors=FLOORS, suffixes=SOURCES):
    """Source files of the floors, as paths relative to the tree."""
    return sorted(
        path.relative_to(tree)
        for floor in floors
        for path in (tree / floor).rglob("*")
        if path.suffix in suffixes
    )


def includes(tree, path):
    return INCLUDE.findall((tree / path).read_text(encoding="utf-8"))


def part_of_vit(path):
    """`vit/image/resize.h` belongs to image, `vit/error.h` to the root."""
    names = Path(path).parts
    if len(names) > 2:
        return names[1]
    stem = Path(path).stem
    return "root" if stem in VIT_ROOT else stem


def floors(tree):
    """app > datasets, vit > kernels; of vit, datasets includes the root and vit/image only."""
    for path in sources(tree):
        floor = path.parts[0]
        for name in includes(tree, path):
            target = name.split("/")[0]
            if target not in FLOORS or target == floor:
                continue
            if FLOORS[target] > FLOORS[floor]:
                yield f"{path} includes {name}: {floor} lies below {target}"
            elif floor == "datasets" and target == "vit" and part_of_vit(name) not in ("root", "image"):
                yield f"{path} includes {name}: of vit, datasets may use image only"
            elif floor == "datasets" and target == "kernels":
                yield f"{path} includes {name}: datasets knows no kernels"


def order_inside_vit(tree):
    """root < image, model, metrics < weights < explain, train, quantize < caption."""
    for path in sources(tree, ["vit"]):
        part = part_of_vit(path)
        if part not in VIT_ORDER:
            yield f"{path}: vit has no place for '{part}' (add it to VIT_ORDER on purpose)"
            continue
        for name in includes(tree, path):
            if not name.startswith("vit/"):
                continue
            target = part_of_vit(name)
            if target != part and VIT_ORDER.get(target, 99) >= VIT_ORDER[part]:
                yield f"{path} includes {name}: {part} may not know {target}"


def formats_of(tree, floor):
    """The files that a floor's CMakeLists.txt lists as parsers of untrusted files."""
    text = (tree / floor / "CMakeLists.txt").read_text(encoding="utf-8")
    listed = re.search(r"set\(formats\s+([^)]*)\)", text)
    return [Path(floor) / name for name in listed.group(1).split()] if listed else []


def light_parsers(tree):
    """No parser includes ATen, torch, c10 or OpenCV, be it through a header of ours."""
    formats = []
    for floor in ("vit", "datasets"):
        listed = formats_of(tree, floor)
        if not listed:
            yield f"{floor}/CMakeLists.txt: no list 'formats' was found"
        formats += listed
    for path in formats:
        if not (tree / path).exists():
            yield f"{path.parts[0]}/CMakeLists.txt lists {path}, which does not exist"
            continue
        way_to, waiting = {path: str(path)}, [path]
        while waiting:
            current = waiting.pop()
            for name in includes(tree, current):
                if HEAVY.match(name):
                    yield f"{way_to[current]} > {name}: a parser of files stays free of it"
                own = Path(name)
                if own not in way_to and (tree / own).is_file():
                    way_to[own] = f"{way_to[current]} > {own}"
                    waiting.append(own)


def short_files(tree):
    for path in sources(tree, [*FLOORS, "tests"]):
        lines = (tree / path).read_text(encoding="utf-8").count("\n")
        if lines > MAX_LINES:
            yield f"{path} has {lines} lines; split it by meaning below {MAX_LINES}"


def names_that_say_something(tree):
    for floor in [*FLOORS, "tests"]:
        for path in sorted((tree / floor).rglob("*")):
            if EMPTY_NAMES.search(path.stem.lower()):
                yield f"{path.relative_to(tree)}: a name should say what the thing does"


def top_level(tree):
    """Only names with a meaning for everybody; what .gitignore names is not ours."""
    ignored = (tree / ".gitignore").read_text().split() if (tree / ".gitignore").exists() else []
    for path in sorted(tree.iterdir()):
        known = path.name in TOP_LEVEL or path.name == ".git"
        if not known and not any(path.match(pattern.strip("/")) for pattern in ignored):
            yield f"{path.name}: does not belong to the top level"


def readmes(tree):
    """Each folder of the four floors, configs and tests opens with a README of at most a page."""
    folders = [tree / name for name in [*FLOORS, "configs", "tests"]]
    folders += [f for name in FLOORS for f in sorted((tree / name).rglob("*")) if f.is_dir()]
    folders += [f for f in sorted((tree / "tests").glob("*")) if f.is_dir() and f.name not in FLOORS]
    for folder in folders:
        if folder.name == "__pycache__" or not any(f.is_file() for f in folder.rglob("*")):
            continue
        readme = folder / "README.md"
        if not readme.exists():
            yield f"{folder.relative_to(tree)}/ has no README.md"
        elif readme.read_text(encoding="utf-8").count("\n") > MAX_README_LINES:
            yield f"{readme.relative_to(tree)}: over a page ({MAX_README_LINES} lines)"
