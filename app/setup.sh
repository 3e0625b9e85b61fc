#!/usr/bin/env bash
# Installs what Vitascope is built from, and only what is missing. Safe to run again.
#
#   app/setup.sh [--tests] [--quickstart] [--cuda] [--torch DIRECTORY]
#
#   --tests       also the packages that only the tests need
#   --quickstart  also the Python packages and downloads of app/quickstart.sh
#   --cuda        also a CUDA compiler, unless a toolkit of 12.8 or newer is there
#   --torch DIR   use the LibTorch in DIR (<...>/site-packages/torch) instead of fetching the wheel;
#                 the environment variable VITASCOPE_TORCH says the same
#
# Exit status: 0 all is there; 1 something cannot be installed; 2 wrong usage; 3 no network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "setup: $*"; }
fail() { echo "setup: error: $2" >&2; exit "$1"; }

tests= quickstart= cuda= torch=${VITASCOPE_TORCH:-}
while [[ $# -gt 0 ]]; do
  case $1 in
    --tests) tests=1 ;;
    --quickstart) quickstart=1 ;;
    --cuda) cuda=1 ;;
    --torch) torch=${2:?--torch needs a directory}; shift ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' app/setup.sh; exit 0 ;;
    *) fail 2 "unknown option '$1' (app/setup.sh --help lists them)" ;;
  esac
  shift
done
if [[ -n $torch && ! -e $torch/lib/libtorch_cpu.so ]]; then
  fail 2 "no LibTorch in '$torch': expected lib/libtorch_cpu.so there (python3 -c 'import torch; print(torch.__path__[0])' prints the directory)"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Runs a command quietly. When it fails, tells a missing network from anything else in one message.
try() {
  local what=$1
  shift
  "$@" >>"$log" 2>&1 && return
  if grep -qiE 'temporary failure|could not resolve|failed to (fetch|establish)|unreachable|timed? ?out|connection (refused|reset|failed|aborted|broken)|cannot connect|could not connect|name or service not known|max retries' "$log"; then
    fail 3 "no network: $what could not be downloaded. Connect this machine (a proxy is taken from https_proxy) and run the same command again; it goes on where it stopped."
  fi
  cp "$log" /tmp/vitascope-setup.log 2>/dev/null || true
  fail 1 "$what could not be installed: $(grep -vE '^\s*$' "$log" | tail -1) (the whole output: /tmp/vitascope-setup.log)"
}

# Under sudo, what belongs to the person stays the person's.
as_owner() {
  if [[ $(id -u) == 0 && -n ${SUDO_USER:-} && $(stat -c %U .) == "$SUDO_USER" ]]; then
    sudo -u "$SUDO_USER" -H -- "$@"
  else
    "$@"
  fi
}

# --- Debian and Ubuntu packages. 'a|b': whichever the distribution has; 'a?': only where it exists.
packages=(
  cmake ninja-build ccache g++ pkg-config python3 python3-venv
  libopencv-core-dev libopencv-imgproc-dev libopencv-imgcodecs-dev
  'libjpeg62-turbo-dev|libjpeg-turbo8-dev' libgif-dev libheif-dev
  'libheif-plugin-libde265?' 'libheif-plugin-aomdec?'
  libfreetype-dev fonts-dejavu-core zlib1g-dev libyaml-cpp-dev libcli11-dev nlohmann-json3-dev
  libgloo-dev)
if [[ -n $tests ]]; then
  packages+=(libgtest-dev libgmock-dev libbenchmark-dev libboost-context-dev clang clang-format llvm
    'chromium?' 'dataset-fashion-mnist?')
fi

command -v dpkg-query >/dev/null ||
  fail 1 "this is not Debian or Ubuntu (no dpkg). Install these by hand, then run cmake: ${packages[*]}"
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort -u)
has() { grep -qxF "$1" <<<"$installed"; }
known() { apt-cache show "$1" >/dev/null 2>&1; }

# Sanitizers and fuzzers need the run-time of the clang that the package `clang` stands for.
clang_runtime() {
  local version
  version=$(apt-cache depends clang 2>/dev/null | sed -n 's/^ *Depends: clang-\([0-9]*\)$/\1/p' | head -1)
  echo "libclang-rt-${version:-14}-dev"
}

missing=()
list_missing() {
  local entry choice names
  missing=()
  for entry in "${packages[@]}" ${tests:+"$(clang_runtime)"}; do
    IFS='|' read -ra names <<<"${entry%\?}"
    for choice in "${names[@]}"; do has "$choice" && continue 2; done
    [[ $entry == *\? ]] && ! known "${names[0]}" && continue
    for choice in "${names[@]}"; do known "$choice" && break; done
    missing+=("$choice")
  done
}

install_packages() {
  local root=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null ||
      fail 1 "packages are missing and this is neither root nor is sudo there. As root: apt-get install ${missing[*]}"
    root=(sudo)
  fi
  # A repository of somebody else's may fail here without any harm: what counts is the install.
  "${root[@]}" apt-get update >>"$log" 2>&1 || true
  list_missing
  say "Debian packages: installing ${missing[*]}"
  try "${missing[*]}" "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}"
}

list_missing
if [[ ${#missing[@]} -gt 0 ]]; then
  install_packages
else
  say "Debian packages: nothing missing"
fi

# --- Python wheels, into .venv.
site_packages() { echo .venv/lib/python3*/site-packages; }

make_venv() {
  .venv/bin/python -c '' 2>/dev/null && return
  local python
  for python in python3 /usr/bin/python3 python3.13 python3.12 python3.11; do
    "$python" -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
      2>/dev/null || continue
    say "Python: a virtual environment in .venv"
    try "the virtual environment" as_owner "$python" -m venv --clear .venv
    return
  done
  fail 1 "the pinned wheels are for Python 3.11 to 3.13, and none of these is here ($(python3 --version 2>&1)). Build against a LibTorch that you have: app/setup.sh --torch DIRECTORY and cmake -DVITASCOPE_TORCH=DIRECTORY"
}

# The lines 'name==version' of a pins file.
pins() { sed -n 's/^\([A-Za-z0-9_-]*==[^ ]*\).*/\1/p' "$1"; }

# install_wheels FILE WHAT: installs a file of pins unless each is there in its version.
install_wheels() {
  local pin name absent=
  for pin in $(pins "$1"); do
    name=${pin%%==*}
    compgen -G "$(site_packages)/${name//-/_}-${pin##*==}.dist-info" >/dev/null || absent=1
  done
  if [[ -z $absent ]]; then
    say "$2: in .venv"
    return
  fi
  say "$2: installing $(pins "$1" | tr '\n' ' ')"
  try "$2" as_owner .venv/bin/python -m pip install --disable-pip-version-check --retries 2 \
    --no-deps --only-binary :all: --require-hashes -r "$1"
}

# download_wheels FILE WHAT: into .cache/downloads, where they stay; hashes are checked by pip.
download_wheels() {
  local pin name absent=
  for pin in $(pins "$1"); do
    name=${pin%%==*}
    compgen -G ".cache/downloads/${name//-/_}-${pin##*==}-*.whl" >/dev/null || absent=1
  done
  [[ -z $absent ]] && return
  say "$2: downloading $(pins "$1" | tr '\n' ' ')"
  as_owner mkdir -p .cache/downloads
  try "$2" as_owner .venv/bin/python -m pip download --disable-pip-version-check --retries 2 \
    --no-deps --only-binary :all: --require-hashes -r "$1" -d .cache/downloads
}

make_venv
if [[ -n $torch ]]; then
  say "LibTorch: the one in $torch"
else
  install_wheels app/requirements.txt "LibTorch"
fi

if [[ ! -e build/share/labels/imagenet-1k.txt ]]; then
  download_wheels app/downloads-labels.txt "Class names of ImageNet"
  try "the class names" as_owner .venv/bin/python app/make_labels.py \
    .cache/downloads/timm-*.whl build/share/labels
fi
say "Class names of ImageNet: in build/share/labels"

if [[ -n $tests ]]; then install_wheels app/requirements-tests.txt "clang-tidy"; fi

if [[ -n $quickstart ]]; then
  install_wheels app/requirements-quickstart.txt "Python packages of the quickstart"
  download_wheels app/downloads-quickstart.txt "Backbone and photos of the quickstart"
fi

# --- The CUDA compiler.
if [[ -n $cuda ]]; then
  nvcc=$(PATH=$PATH:${CUDA_HOME:+$CUDA_HOME/bin:}/usr/local/cuda/bin command -v nvcc || true)
  version=$([[ -n $nvcc ]] && "$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p' || true)
  if [[ -n $version && $(printf '%s\n' 12.8 "$version" | sort -V | head -1) == 12.8 ]]; then
    say "CUDA compiler: $nvcc, release $version"
  else
    install_wheels app/requirements-cuda.txt "CUDA compiler"
    # The linker looks for the names without a version, which wheels leave out.
    as_owner ln -sfn libcudart.so.13 "$(site_packages)/nvidia/cu13/lib/libcudart.so"
    as_owner ln -sfn lib "$(site_packages)/nvidia/cu13/lib64"
  fi
fi
