#!/usr/bin/env bash
# Formats the C and C++ sources in place; --check only tells which would change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1-} in
  '') mode=(-i) ;;
  --check) mode=(--dry-run -Werror) ;;
  *)
    echo "error: unknown argument '$1'; the only one is --check" >&2
    exit 1
    ;;
esac

# Files that git ignores (build directories) are left alone.
git ls-files -z --cached --others --exclude-standard -- '*.h' '*.c' '*.cpp' |
  while IFS= read -r -d '' file; do [[ -f $file ]] && printf '%s\0' "$file"; done |
  xargs -0 -r clang-format-22 "${mode[@]}"
