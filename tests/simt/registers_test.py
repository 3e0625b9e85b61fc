"""Compiles the kernels for GPUs and reads what ptxas says of them.

    registers_test.py NVCC ARCHITECTURE...

Fails on a warning, and where a hot kernel (tensor cores, no masks) spills registers or has a stack.
Prints registers, shared memory and how many blocks a multiprocessor holds. Exit status 77: no nvcc.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOT = re.compile(r"(attention_(?:forward|backward_queries|backward_keys))I"
                 r"(?:NS\d*_)?\d+(BFloat16|Float16)ELi(\d+)ELb0E")
ENTRY = re.compile(
    r"Compiling entry function '(\S+)' for 'sm_(\w+)'\n"
    r"(?:.*\n)*?ptxas info\s*: Function properties for \1\n"
    r"\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n"
    r"ptxas info\s*: Used (\d+) registers")
THREADS = 128
REGISTERS = 65536  # of a multiprocessor
# Shared memory and threads of a multiprocessor (CUDA C++ Programming Guide, compute capabilities);
# each block takes 1 KB beside its own.
MULTIPROCESSOR = {"80": (164, 2048), "89": (100, 1536), "90": (228, 2048), "100": (228, 2048),
                  "120": (100, 1536)}


def compile_for(nvcc, source, architectures, folder):
    command = [nvcc, "-std=c++20", "-O3", f"-I{ROOT}", "-Werror", "all-warnings", "-Xptxas", "-v"]
    for number in architectures:
        command += ["-gencode", f"arch=compute_{number},code=sm_{number}"]
    command += ["-c", str(source), "-o", str(Path(folder) / (source.stem + ".o"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{source.name} does not compile:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def blocks_that_fit(number, registers, shared_bytes):
    kilobytes, threads = MULTIPROCESSOR[number]
    per_warp = -(-registers * 32 // 256) * 256  # ptxas counts registers of a warp in steps of 256
    return min(REGISTERS // (per_warp * THREADS // 32), threads // THREADS,
               kilobytes * 1024 // (shared_bytes + 1024))


def main():
    nvcc, *architectures = sys.argv[1:]
    try:
        subprocess.run([nvcc, "--version"], capture_output=True, check=True)
    except OSError:
        print(f"skipped: there is no nvcc ({nvcc}); app/setup.sh --cuda installs one")
        return 77
    faults, hot = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted((ROOT / "kernels/cuda").glob("attention*.cu")):
            text = compile_for(nvcc, source, architectures, folder)
            for name, number, stack, stores, loads, registers in ENTRY.findall(text):
                match = HOT.search(name)
                if not match:
                    continue
                hot += 1
                kernel, element, width = match.groups()
                # Tiles of 64 rows, each 8 elements wider than they are (tile.cuh).
                tiles = 4 if kernel == "attention_forward" else 2
                tiles += kernel == "attention_backward_keys" and int(width) > 96
                shared = tiles * 64 * (int(width) + 8) * 2
                print(f"sm_{number:4}{kernel:28}{element:9} width {width:>3}: {registers:>3} "
                      f"registers, {shared:>6} bytes shared, "
                      f"{blocks_that_fit(number, int(registers), shared)} blocks of {THREADS}")
                if int(stack) or int(stores) or int(loads):
                    faults.append(f"sm_{number} {kernel} {element} {width}: {stack} bytes of stack, "
                                  f"{stores} spilled")
    expected = 3 * 2 * 6 * len(architectures)  # kernels, types, widths
    if hot != expected:
        faults.append(f"{hot} hot kernels were found, {expected} expected")
    print("\n".join(faults) or f"{hot} hot kernels without spills or stack")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
