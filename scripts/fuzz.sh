#!/usr/bin/env bash
# Random training steps under random strategies, 10,000 unless --count says
# otherwise; see python/tests/fuzz.py.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../python/tests"
exec ../../.venv/bin/python fuzz.py "$@"
