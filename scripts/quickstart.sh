#!/usr/bin/env bash
# Builds the tools it runs, then does the main job on real text; see
# python/amsp/quickstart.py. Arguments are passed on to it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/build.sh amsp-compile amsp-run
exec .venv/bin/python -m amsp.quickstart "$@"
