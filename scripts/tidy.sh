#!/usr/bin/env bash
# clang-tidy over our own sources, as configured in .clang-tidy. Needs a build,
# for compile_commands.json, generated headers and the precompiled header.
# Arguments: sources to check; without them, all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sources=("$@")
if ((!${#sources[@]})); then
  mapfile -t sources < <(git ls-files --cached --others --exclude-standard -- '*.cpp' '*.c')
fi

# Only what the build compiles; a source that is included by another (sharded
# ops) is checked there.
checked=()
for source in "${sources[@]}"; do
  if grep -qF "\"file\": \"$PWD/$source\"" build/compile_commands.json; then
    checked+=("$source")
  fi
done
if ((!${#checked[@]})); then
  echo "error: no source to check" >&2
  exit 1
fi
printf '%s\0' "${checked[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-22 -p build --quiet --warnings-as-errors='*'
