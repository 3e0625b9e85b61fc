#!/usr/bin/env bash
# Everything that a change must pass, from a fresh machine on:
#   tests/run.sh [--slow] [--cuda] [--torch DIRECTORY]
# installs what is missing, builds, lints, checks formatting, and runs the tests; the last lines are
# ctest's. --slow adds fuzzing and the comparisons with Python (an hour).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

excluded='slow|gpu'
# The code of one generation of GPUs tells whether the kernels compile; --slow builds all.
build=(-DVITASCOPE_TESTS=ON -DCMAKE_CUDA_ARCHITECTURES=80)
setup=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --slow) excluded='gpu' build=(-DVITASCOPE_TESTS=ON -UCMAKE_CUDA_ARCHITECTURES) ;;
    --torch) setup+=("$1" "$2"); export VITASCOPE_TORCH=$2; shift ;;
    *) setup+=("$1") ;;
  esac
  shift
done

step() { echo "== $* ($((SECONDS / 60)) min $((SECONDS % 60)) s)"; }

step "setup"
app/setup.sh --tests "${setup[@]}"

step "formatting"
git ls-files -- '*.cpp' '*.h' '*.cu' '*.cuh' | xargs clang-format --dry-run -Werror

# Two jobs at most where memory is short: LibTorch's headers take a gigabyte a compiler.
jobs=$(nproc)
gigabytes=$(awk '/MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
((jobs > gigabytes / 2)) && jobs=$((gigabytes / 2 > 1 ? gigabytes / 2 : 1))

step "build"
cmake --preset release "${build[@]}"
cmake --build build --parallel "$jobs"
step "lint"
cmake --build build --parallel "$jobs" --target lint

# The readers of untrusted files and the picture code once more under the address and undefined-
# behaviour sanitizers. Leaks are not looked for: LibTorch keeps registries until the process ends.
step "sanitizers"
cmake --preset asan
cmake --build build-asan --parallel "$jobs" --target tests_formats tests_image
for tests in tests_formats tests_image; do
  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 build-asan/$tests --gtest_brief=1
done

step "tests"
exec ctest --test-dir build --output-on-failure --no-tests=error -LE "$excluded" -j2
