"""What nvcc compiles and what the emulator runs are the same files, with the same text."""

import re
import sys
import unittest
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[2] / "kernels/cuda"
KNOW_THE_EMULATOR = {"ptx.cuh", "launch.cuh"}
LIBTORCH = re.compile(r'#\s*include\s*<(ATen|c10|torch)/')


class Sources(unittest.TestCase):
    emulated = set()

    def test_every_kernel_is_emulated(self):
        """All but what only registers with LibTorch, which has no kernel of attention."""
        for path in KERNELS.glob("*.cu"):
            text = path.read_text(encoding="utf-8")
            self.assertEqual(LIBTORCH.search(text) is None, path.name in self.emulated,
                             f"{path.name}: compiled by nvcc alone or by the emulator alone")

    def test_only_two_headers_know_the_emulator(self):
        for path in [*KERNELS.glob("*.cu"), *KERNELS.glob("*.cuh"), *KERNELS.glob("*.h")]:
            text = path.read_text(encoding="utf-8")
            self.assertEqual("VITASCOPE_SIMT" in text, path.name in KNOW_THE_EMULATOR, path.name)
            self.assertNotRegex(text, r"#\s*if.*(__CUDA_ARCH__|__CUDACC__|__GNUC__)", path.name)


if __name__ == "__main__":
    Sources.emulated = {Path(name).name for name in sys.argv[1:]}
    unittest.main(argv=sys.argv[:1])
