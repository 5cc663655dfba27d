#!/usr/bin/env bash
# Installs what is missing, configures, and builds into build/ (tools in
# build/bin/). Arguments: names of targets; without them, everything.
# A second call has nothing to do and takes a moment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(
  llvm-22-dev libmlir-22-dev mlir-22-tools clang-22 lld-22 libclang-rt-22-dev
  clang-format-22 clang-tidy-22 libopenblas-dev libopenmpi-dev openmpi-bin ccache libzstd-dev
  libcurl4-openssl-dev libedit-dev libxml2-dev zlib1g-dev ninja-build cmake
  libgmock-dev libgtest-dev libzip-dev pkg-config python3-venv
)

fail() {
  echo "error: $*" >&2
  exit 1
}

install_packages() {
  local installed missing=() package
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' 2>/dev/null || true)
  for package in "${packages[@]}"; do
    grep -q "^$package installed\$" <<<"$installed" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  command -v apt-get >/dev/null ||
    fail "this needs Debian's packages, and apt-get is not here: ${missing[*]}"
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      fail "run as root, or install sudo, to install: ${missing[*]}"
    as_root=(sudo)
  fi
  echo "installing: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq || true
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    fail "apt-get could not install: ${missing[*]}"
}

# /usr/bin/python3 first: a python3 from elsewhere may lack the venv module.
find_python() {
  local candidate
  for candidate in /usr/bin/python3 python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
      2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  fail "no python3 of version 3.11 or newer with the venv module"
}

# The stamp holds what the environment was made from; it is written last.
prepare_python() {
  local stamp=.venv/installed-from wanted
  wanted=$(cat python/requirements.txt python/requirements-test.txt \
    python/pyproject.toml; pwd)
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then
    return
  fi
  [[ -x .venv/bin/python ]] || "$(find_python)" -m venv .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check \
    -r python/requirements.txt -r python/requirements-test.txt ||
    fail "pip could not install python/requirements*.txt"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check \
    --no-deps -e ./python || fail "pip could not install ./python"
  printf '%s\n' "$wanted" >"$stamp"
}

configure() {
  [[ -f build/build.ninja ]] || cmake --preset release >build-configure.log 2>&1 || {
    cat build-configure.log >&2
    fail "cmake could not configure build/"
  }
  rm -f build-configure.log
}

install_packages
prepare_python
# Objects are found in the cache from any checkout of the same sources.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS=pch_defines,time_macros
configure
ninja -C build -j "$(nproc)" "$@"
