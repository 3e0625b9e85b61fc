"""Compiles the kernels for GPUs and reads what ptxas says of them.

    registers_test.py NVCC ARCHITECTURE...

Fails on a warning, and where a hot kernel (tensor cores, no masks) spills registers or has a stack.
Prints registers, shared memory and how many blocks a multiprocessor holds. Exit status 77: no nvcc.
"""

import collections
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOT = re.compile(r"(attention_(?:forward|forward_resident|backward_queries|backward_keys))I"
                 r"(?:NS\d*_)?\d+(BFloat16|Float16)((?:ELi\d+)+)(?:ELb0)?EEEv")
# Width, groups of 16 keys a warp, most warps, whether values stay in registers, most parts of keys.
RESIDENT = re.compile(r"(attention_backward_resident)I(?:NS\d*_)?\d+(BFloat16|Float16)"
                      r"((?:ELi\d+){3}ELb[01]ELi\d+)EEEv")
ENTRY = re.compile(
    r"Compiling entry function '(\S+)' for 'sm_(\w+)'\n"
    r"(?:.*\n)*?ptxas info\s*: Function properties for \1\n"
    r"\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n"
    r"ptxas info\s*: Used (\d+) registers")
# Registers of a quarter of a multiprocessor, which takes whole warps.
REGISTERS = 16384
# Templates for one type of element: six widths, and blocks or steps of several sizes.
TEMPLATES = {"attention_forward": 6 + 5, "attention_forward_resident": 6 + 6 + 5,
             "attention_backward_queries": 6, "attention_backward_keys": 6,
             "attention_backward_resident": 8}
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


def blocks_that_fit(number, registers, shared_bytes, warps):
    kilobytes, threads = MULTIPROCESSOR[number]
    per_warp = -(-registers * 32 // 256) * 256  # ptxas counts registers of a warp in steps of 256
    return min(4 * (REGISTERS // per_warp) // warps, threads // (32 * warps),
               kilobytes * 1024 // (shared_bytes + 1024))


def block_of(kernel, width, numbers):
    """Warps and bytes of shared memory. Tiles have 64 rows, 8 elements wider than they are."""
    rows = {"attention_forward": 4 * 64, "attention_backward_queries": 2 * 64,
            "attention_backward_keys": (3 if width > 96 else 2) * 64}
    warps = numbers[0] if kernel == "attention_forward" else 4
    if kernel == "attention_forward_resident":  # for the most keys of the template
        rows[kernel], warps = 2 * 16 * numbers[0], 4
    if kernel == "attention_backward_resident":  # the same; dS^T has rows of 40 elements
        groups, warps, held, _ = numbers
        keys = 16 * groups * warps
        rows[kernel] = (1 if held else 2) * keys + 4 * 32 + -(-2 * keys * 40 // (width + 8))
    return warps, rows[kernel] * (width + 8) * 2


def main():
    nvcc, *architectures = sys.argv[1:]
    try:
        subprocess.run([nvcc, "--version"], capture_output=True, check=True)
    except OSError:
        print(f"skipped: there is no nvcc ({nvcc}); app/setup.sh --cuda installs one")
        return 77
    faults, found = [], collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted((ROOT / "kernels/cuda").glob("attention*.cu")):
            text = compile_for(nvcc, source, architectures, folder)
            for name, number, stack, stores, loads, registers in ENTRY.findall(text):
                match = HOT.search(name) or RESIDENT.search(name)
                if not match:
                    continue
                kernel, element, *_ = match.groups()
                width, *numbers = [int(n) for n in re.findall(r"\d+", match.group(3))]
                found[kernel] += 1
                warps, shared = block_of(kernel, width, numbers)
                print(f"sm_{number:4}{kernel:28}{element:9} width {width:>3} {numbers}: "
                      f"{registers:>3} registers, {shared:>6} bytes shared, "
                      f"{blocks_that_fit(number, int(registers), shared, warps)} blocks of "
                      f"{32 * warps}")
                if int(stack) or int(stores) or int(loads):
                    faults.append(f"sm_{number} {kernel} {element} {width}: {stack} bytes of stack, "
                                  f"{stores} spilled")
                if blocks_that_fit(number, int(registers), 0, warps) == 0:
                    faults.append(f"sm_{number} {kernel} {element} {width}: more registers than "
                                  "a multiprocessor has")
    expected = {kernel: 2 * count * len(architectures) for kernel, count in TEMPLATES.items()}
    if found != expected:
        faults.append(f"of hot kernels, {dict(found)} were found, {expected} expected")
    print("\n".join(faults) or f"{sum(found.values())} hot kernels without spills or stack")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
