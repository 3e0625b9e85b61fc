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
# Width, groups of 16 keys a warp, most warps, whether values stay in registers, most parts of keys.
RESIDENT = re.compile(r"(attention_backward_resident)I(?:NS\d*_)?\d+(BFloat16|Float16)"
                      r"ELi(\d+)ELi(\d+)ELi(\d+)ELb([01])ELi(\d+)E")
RESIDENT_KERNELS = 2 * 8  # types, lines of `choose`
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


def blocks_that_fit(number, registers, shared_bytes, threads=THREADS):
    kilobytes, most_threads = MULTIPROCESSOR[number]
    per_warp = -(-registers * 32 // 256) * 256  # ptxas counts registers of a warp in steps of 256
    warps = REGISTERS // 4 // per_warp * 4  # each of four parts has its own registers and warps
    return min(warps // (threads // 32), most_threads // threads,
               kilobytes * 1024 // (shared_bytes + 1024))


def describe(number, name, registers):
    """What is printed of a hot kernel, and whether a block of it fits; None for other kernels."""
    match = RESIDENT.search(name)
    if match:  # its shared memory depends on the problem: backward_choice_test.cpp
        kernel, element, width, groups, warps, held, parts = match.groups()
        blocks = blocks_that_fit(number, registers, 0, 32 * int(warps))
        return (f"sm_{number:4}{kernel:28}{element:9} width {width:>3}: {registers:>3} registers, "
                f"up to {warps} warps of {16 * int(groups)} keys, {parts} parts, values in "
                f"{'registers' if held == '1' else 'shared memory'}"), blocks > 0
    match = HOT.search(name)
    if not match:
        return None
    kernel, element, width = match.groups()
    # Tiles of 64 rows, each 8 elements wider than they are (tile.cuh).
    tiles = 4 if kernel == "attention_forward" else 2
    tiles += kernel == "attention_backward_keys" and int(width) > 96
    shared = tiles * 64 * (int(width) + 8) * 2
    blocks = blocks_that_fit(number, registers, shared)
    return (f"sm_{number:4}{kernel:28}{element:9} width {width:>3}: {registers:>3} registers, "
            f"{shared:>6} bytes shared, {blocks} blocks of {THREADS}"), blocks > 0


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
                hot_kernel = describe(number, name, int(registers))
                if hot_kernel is None:
                    continue
                hot += 1
                text_of_it, fits = hot_kernel
                print(text_of_it)
                if int(stack) or int(stores) or int(loads):
                    faults.append(f"{text_of_it}: {stack} bytes of stack, {stores} spilled")
                if not fits:
                    faults.append(f"{text_of_it}: more than a multiprocessor has")
    expected = (3 * 2 * 6 + RESIDENT_KERNELS) * len(architectures)  # kernels, types, widths
    if hot != expected:
        faults.append(f"{hot} hot kernels were found, {expected} expected")
    print("\n".join(faults) or f"{hot} hot kernels without spills or stack")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
