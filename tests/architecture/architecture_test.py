#!/usr/bin/env python3
"""Holds the repository to its own rules, and the rules to a fixture that breaks each of them.

    architecture_test.py [--root FOLDER]
"""

import argparse
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import rules
from documentation import documented_headers

ROOT = Path(__file__).resolve().parents[2]
RULES = [
    rules.floors, rules.order_inside_vit, rules.light_parsers, rules.short_files,
    rules.names_that_say_something, rules.top_level, rules.readmes, documented_headers,
]

HEADER = "#pragma once\n/// \\file\n/// A header.\nnamespace vitascope {\n/// Does it.\nvoid run();\n}\n"
SOUND = {
    "CMakeLists.txt": "",
    ".gitignore": "/build*/\n/.venv/\n",
    "build-debug/anything.txt": "",
    "vit/CMakeLists.txt": "set(formats\n  error.cpp\n  weights/npz.cpp)\n",
    "datasets/CMakeLists.txt": "set(formats\n  manifest.cpp)\n",
    "datasets/manifest.cpp": '#include "vit/error.h"\n',
    "vit/error.h": HEADER,
    "vit/error.cpp": '#include "vit/error.h"\n#include <string>\n',
    "vit/image/resize.h": HEADER,
    "vit/model/block.h": HEADER,
    "vit/weights/npz.h": '#include "vit/error.h"\n' + HEADER,
    "vit/weights/npz.cpp": '#include "vit/weights/npz.h"\n#include "vit/image/resize.h"\n',
    "vit/classifier.h": '#include "vit/weights/npz.h"\n' + HEADER,
    "kernels/attention.h": "#include <ATen/core/Tensor.h>\n" + HEADER,
    "datasets/loader.h": '#include "vit/image/resize.h"\n#include "vit/error.h"\n' + HEADER,
    "app/main.cpp": '#include "datasets/loader.h"\n#include "vit/classifier.h"\n',
    "tests/vit/error_test.cpp": "",
    **{
        f"{folder}/README.md": "# One page\n"
        for folder in ("app", "configs", "datasets", "kernels", "tests", "vit", "vit/image",
                       "vit/model", "vit/weights")
    },
}


def make_tree(files):
    tree = Path(tempfile.mkdtemp(prefix="vitascope-architecture-"))
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tree


class Repository(unittest.TestCase):
    """The rules, over this repository."""


def over_repository(rule):
    def test(self):
        broken = list(rule(ROOT))
        self.assertFalse(broken, "\n  " + "\n  ".join(broken))

    return test


for each in RULES:
    setattr(Repository, f"test_{each.__name__}", over_repository(each))


class Rules(unittest.TestCase):
    """The rules themselves: the sound tree passes all, and one change is caught by one rule."""

    def assert_caught(self, rule, change, words):
        tree = make_tree(SOUND | {k: v for k, v in change.items() if v is not None})
        self.addCleanup(shutil.rmtree, tree)
        for name in [k for k, v in change.items() if v is None]:
            (tree / name).unlink()
        found = list(rule(tree))
        self.assertEqual(len(found), 1, found)
        for word in words.split():
            self.assertIn(word, found[0])
        for other in RULES:
            if other is not rule:
                self.assertEqual(list(other(tree)), [], other.__name__)

    def test_sound_tree(self):
        tree = make_tree(SOUND)
        self.addCleanup(shutil.rmtree, tree)
        for rule in RULES:
            self.assertEqual(list(rule(tree)), [], rule.__name__)

    def test_floors(self):
        for file, include, words in [
            ("kernels/a.cpp", "vit/error.h", "kernels/a.cpp vit/error.h below"),
            ("kernels/cuda/a.cu", "vit/image/resize.h", "below"),
            ("vit/a.cpp", "datasets/loader.h", "below"),
            ("vit/image/a.cpp", "app/options.h", "below"),
            ("datasets/a.cpp", "app/options.h", "below"),
            ("datasets/a.cpp", "vit/model/block.h", "image only"),
            ("datasets/a.cpp", "kernels/attention.h", "kernels"),
        ]:
            change = {file: f'#include "{include}"\n'}
            if file == "vit/a.cpp":
                change = {"vit/error.cpp": change[file]}
            if file == "kernels/cuda/a.cu":
                change["kernels/cuda/README.md"] = ""
            self.assert_caught(rules.floors, change, words)

    def test_order_inside_vit(self):
        for file, include in [
            ("vit/image/a.cpp", "vit/model/block.h"),
            ("vit/model/a.cpp", "vit/image/resize.h"),
            ("vit/model/a.cpp", "vit/weights/npz.h"),
            ("vit/error.cpp", "vit/image/resize.h"),
            ("vit/weights/a.cpp", "vit/classifier.h"),
        ]:
            self.assert_caught(
                rules.order_inside_vit, {file: f'#  include "{include}"\n'}, f"{file} {include}")
        self.assert_caught(rules.order_inside_vit, {"vit/sundry.cpp": ""}, "sundry place")

    def test_light_parsers(self):
        for name in ("ATen/ATen.h", "torch/torch.h", "c10/util/Half.h", "opencv2/core.hpp"):
            self.assert_caught(
                rules.light_parsers, {"vit/error.cpp": f"#include <{name}>\n"}, f"error.cpp {name}")
        through = {"vit/image/resize.h": "#include <ATen/core/Tensor.h>\n" + HEADER}
        self.assert_caught(rules.light_parsers, through, "npz.cpp > vit/image/resize.h > ATen")
        self.assert_caught(
            rules.light_parsers, {"vit/CMakeLists.txt": "set(formats gone.cpp)"}, "gone.cpp exist")
        self.assert_caught(rules.light_parsers, {"vit/CMakeLists.txt": ""}, "no list")
        self.assert_caught(
            rules.light_parsers, {"datasets/manifest.cpp": "#include <ATen/ATen.h>\n"}, "manifest.cpp ATen")
        self.assert_caught(rules.light_parsers, {"datasets/CMakeLists.txt": ""}, "datasets no list")

    def test_short_files(self):
        self.assert_caught(rules.short_files, {"app/main.cpp": "\n" * 501}, "main.cpp 501")
        self.assert_caught(rules.short_files, {"tests/vit/error_test.cpp": "\n" * 501}, "501")

    def test_names(self):
        for name in ("app/utils.cpp", "vit/image/resize_helper.h", "kernels/common.h",
                     "datasets/manager.cpp"):
            self.assert_caught(rules.names_that_say_something, {name: HEADER}, name)

    def test_top_level(self):
        self.assert_caught(rules.top_level, {"notes.md": ""}, "notes.md")

    def test_readmes(self):
        self.assert_caught(rules.readmes, {"vit/image/README.md": None}, "vit/image README.md")
        self.assert_caught(rules.readmes, {"app/README.md": "\n" * 61}, "app/README.md page")
        self.assert_caught(rules.readmes, {"tests/cli/run_test.cpp": ""}, "tests/cli README.md")

    def test_documented_headers(self):
        self.assert_caught(
            documented_headers, {"vit/error.h": HEADER.replace("\\file", "")}, "error.h \\file")
        for declaration in (
            "void other();",
            "std::vector<int> other(int a,\n                       int b);",
            "struct Other {\n  int x;\n};",
            "class Other;\nclass Another {};",
            "enum class Other { a, b };",
            "struct Other {\n  int x;  ///< what x is\n};",
            "/// First.\nint first();\n\nint second();",
            "template <typename T>\nT other(T x) {\n  return x;\n}",
            "inline int other() { return 1; }",
        ):
            header = HEADER.replace("}\n", f"\n{declaration}\n}}\n")
            self.assert_caught(documented_headers, {"vit/error.h": header}, "error.h: comment")

    def test_documented_declarations_pass(self):
        sound = (
            "/// What it is.\nstruct Other {\n  void run();\n  int y = 0;\n};\n"
            "/// Twice\n/// as long.\n[[nodiscard]] int other(int a,\n          int b = 3);\n"
            "class Forward;\nusing Name = int;\n"
            "int plain();  ///< said behind it\n"
            "\n/// Two of a kind.\nint first();\nint second();\n"
            "\nenum class Kind {\n  a,  ///< the first\n  b   ///< the second\n};\n")
        tree = make_tree(SOUND | {"vit/error.h": HEADER.replace("}\n", sound + "}\n")})
        self.addCleanup(shutil.rmtree, tree)
        self.assertEqual(list(documented_headers(tree)), [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, default=ROOT)
    known, rest = parser.parse_known_args()
    ROOT = known.root
    unittest.main(argv=[sys.argv[0], *rest])
