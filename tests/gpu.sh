#!/usr/bin/env bash
# What a machine with an NVIDIA GPU has to say about kernels/cuda, within 8 minutes and in one file:
#
#   tests/gpu.sh [--torch DIRECTORY] [--dry-run] [OUTPUT.json]
#
# builds the kernels alone for this GPU, runs the tests labelled gpu, compute-sanitizer's memcheck and
# racecheck on small problems where it is installed, and a benchmark beside LibTorch's kernels.
#
#   --torch DIR  the LibTorch in DIR (<...>/site-packages/torch) instead of the one that .venv's or this
#                shell's python3 imports; the environment variable VITASCOPE_TORCH says the same
#   --dry-run    the same on a machine without a GPU, against the CPU kernels: it tries out the scripts
#   OUTPUT.json  the report (default: build-kernels/gpu.json)
#
# Needs torch, nvcc 12.8 or newer, a C++20 compiler and CMake; no network. Exit status: 0 all of it
# passed, whatever the speed; 1 something failed, the report says what; 2 wrong usage; 3 no GPU that
# our kernels run on; 4 torch or nvcc is missing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() { echo "gpu.sh: error: $2" >&2; exit "$1"; }

torch=${VITASCOPE_TORCH:-} arguments=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --torch) torch=${2:?--torch needs a directory}; shift ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    --dry-run) arguments+=("$1") ;;
    -*) fail 2 "unknown option '$1' (tests/gpu.sh --help lists them)" ;;
    *) arguments+=("$1") ;;
  esac
  shift
done

# The Python that a LibTorch was installed for lies beside it: <prefix>/lib/python3.X/site-packages/torch.
candidates=("$root/.venv/bin/python" python3)
if [[ -n $torch ]]; then
  [[ -e $torch/lib/libtorch_cpu.so ]] || fail 2 "no LibTorch in '$torch': expected lib/libtorch_cpu.so there"
  packages=$(cd "$torch/.." && pwd)
  candidates=("$packages/../../../bin/$(basename "$(dirname "$packages")")" python3)
  export PYTHONPATH=$packages
fi
for python in "${candidates[@]}"; do
  if problem=$("$python" -c 'import torch' 2>&1); then
    exec "$python" -B "$root/tests/gpu/acceptance.py" "${arguments[@]}"
  fi
done
fail 4 "python3 cannot import torch (${problem##*$'\n'}). Install it (pip install torch==2.11.0) or name one that you have: --torch <...>/site-packages/torch"
