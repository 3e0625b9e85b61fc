#!/usr/bin/env bash
# Builds the fuzz targets with clang, fuzzes each for a while, measures what their corpora cover, and
# proves that a planted bug is found. Fails on any crash and on coverage below the limit.
#   tests/fuzz/run.sh [--seconds 60] [--build DIR] [--torch DIR] [TARGET...]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
seconds=60
limit=85 # percent of lines
build=$root/build-fuzz
torch=$(echo "$root"/.venv/lib/python3*/site-packages/torch)
targets=()
while (($#)); do
  case $1 in
    --seconds) seconds=$2 && shift 2 ;;
    --build) build=$2 && shift 2 ;;
    --torch) torch=$2 && shift 2 ;;
    -*) echo "run.sh: unknown option $1; known are --seconds, --build, --torch" >&2 && exit 2 ;;
    *) targets+=("$1") && shift ;;
  esac
done
((${#targets[@]})) || targets=(safetensors torch_archive npz configuration image_header instances table captions)

# Sources that each target is there for.
declare -A sources=(
  [safetensors]="vit/weights/safetensors.cpp"
  [torch_archive]="vit/weights/torch_archive.cpp vit/weights/torch_storage.cpp
                   vit/weights/pickle.cpp vit/weights/pickle_heights.cpp vit/weights/pickle_stream.h
                   vit/weights/zip_archive.cpp"
  [npz]="vit/weights/npz.cpp vit/weights/npy_header.cpp"
  [configuration]="vit/json.cpp vit/json_object.cpp vit/image/specification_reader.cpp
                   vit/weights/labels.cpp vit/weights/transformers_config.cpp
                   vit/weights/timm_config.cpp vit/weights/npz_config.cpp"
  [image_header]="vit/image/header.cpp vit/image/exif.cpp $(cd "$root" && echo vit/image/*_header.cpp)"
  [instances]="datasets/coco_annotations.cpp datasets/mask_region.cpp"
  [table]="datasets/csv.cpp datasets/table.cpp"
  [captions]="datasets/captioned_images.cpp datasets/caption_text.cpp datasets/caption_json.cpp"
)

for target in "${targets[@]}"; do
  [[ -v sources[$target] ]] || { echo "run.sh: no target $target; known: ${!sources[*]}" >&2 && exit 2; }
done

cmake -S "$here" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++ \
  -DVITASCOPE_TORCH="$torch" >/dev/null
ninja -C "$build" "${targets[@]}" planted_bug
rm -rf "$build/seeds"
python3 "$here/seeds.py" --golden "$root/tests/golden" --out "$build/seeds"

export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=0
options=(-max_len=16384 -timeout=20 -rss_limit_mb=3072 -print_final_stats=1)
failed=()

# The corpus first: what it covers is measured without what this very run finds.
for target in "${targets[@]}"; do
  echo "== $target: coverage of the corpus"
  corpora=("$build/seeds/$target")
  [[ -d $here/corpus/$target ]] && corpora+=("$here/corpus/$target")
  LLVM_PROFILE_FILE=$build/$target.profraw "$build/$target" "${options[@]}" -runs=0 "${corpora[@]}" \
    >"$build/$target.log" 2>&1 || {
    tail -n 40 "$build/$target.log"
    failed+=("$target crashed on its corpus; see $build/$target.log")
    continue
  }
  llvm-profdata merge -sparse "$build/$target.profraw" -o "$build/$target.profdata"
  (cd "$root" && llvm-cov report "$build/$target" -instr-profile="$build/$target.profdata" \
    -show-branch-summary=false -show-region-summary=false ${sources[$target]}) |
    tee "$build/$target.coverage"
  covered=$(awk '/^TOTAL/ {sub("%", "", $NF); print $NF}' "$build/$target.coverage")
  awk -v covered="$covered" -v limit=$limit 'BEGIN {exit !(covered >= limit)}' ||
    failed+=("$target covers $covered% of its lines, expected $limit%")
done

echo "== planted_bug: must crash within 60 s"
mkdir -p "$build/crashes" "$build/found/planted_bug"
rm -f "$build/found/planted_bug"/*
cp "$build/seeds/safetensors/seed000" "$build/found/planted_bug/" # one good file to start from
if LLVM_PROFILE_FILE=/dev/null "$build/planted_bug" "${options[@]}" -max_total_time=60 \
  -artifact_prefix="$build/crashes/planted-" "$build/found/planted_bug" \
  >"$build/planted_bug.log" 2>&1; then
  failed+=("the planted bug was not found")
else
  grep -m1 'ERROR: AddressSanitizer' "$build/planted_bug.log" ||
    failed+=("planted_bug ended, but not by the planted bug: see $build/planted_bug.log")
fi

for target in "${targets[@]}"; do
  echo "== $target: fuzzing for $seconds s"
  mkdir -p "$build/found/$target"
  corpora=("$build/found/$target" "$build/seeds/$target")
  [[ -d $here/corpus/$target ]] && corpora+=("$here/corpus/$target")
  LLVM_PROFILE_FILE=/dev/null "$build/$target" "${options[@]}" -max_total_time="$seconds" \
    -artifact_prefix="$build/crashes/$target-" "${corpora[@]}" >"$build/$target.log" 2>&1 || {
    failed+=("$target crashed; its input lies in $build/crashes, its output in $build/$target.log")
    tail -n 40 "$build/$target.log"
  }
  grep 'number_of_executed_units' "$build/$target.log" || true
done

if ((${#failed[@]})); then
  printf 'FAILED: %s\n' "${failed[@]}"
  exit 1
fi
echo "passed: ${targets[*]}"
