#!/usr/bin/env bash
# Every kind of step x strategy x world 1 to 8 x factorisation x path (threads,
# MPI, XLA), ten steps each, with a table at the end; see python/tests/run_matrix.py for options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../python/tests"
exec ../../.venv/bin/python run_matrix.py "$@"
