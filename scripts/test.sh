#!/usr/bin/env bash
# Builds everything and runs every test, each suite even if one before it failed.
# Ends with the line "N passed, N failed, N skipped" over all suites.
#   --tidy   also run clang-tidy over all sources (continuous integration does)
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

tidy=false
case ${1-} in
  '') ;;
  --tidy) tidy=true ;;
  *)
    echo "error: unknown argument '$1'; the only one is --tidy" >&2
    exit 1
    ;;
esac

passed=0 failed=0 skipped=0
times=()

# timed NAME COMMAND...: the command's status; its time is listed at the end.
timed() {
  local name=$1 start=$SECONDS status=0
  shift
  "$@" || status=$?
  times+=("$(printf '%-12s %5d s' "$name" $((SECONDS - start)))")
  return "$status"
}

finish() {
  echo "== times"
  printf '%s\n' "${times[@]}"
  echo "$passed passed, $failed failed, $skipped skipped"
  ((failed == 0 && passed > 0))
  exit
}

# check NAME COMMAND...: a command that is one test by itself.
check() {
  local name=$1
  shift
  echo "== $name"
  if timed "$name" "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
  fi
}

# suite NAME COMMAND...: a command that writes result files to $results.
suite() {
  local name=$1 status=0 counts
  shift
  results=$root/build/test-results/$name
  rm -rf "$results"
  mkdir -p "$results"
  echo "== $name"
  LIT_OPTS="-o $results/lit.json" GTEST_OUTPUT="json:$results/" \
    timed "$name" "$@" || status=$?
  read -r -a counts < <(.venv/bin/python scripts/count_tests.py "$results" || echo 0 0 0)
  # A suite that broke, or that found nothing to run, is a failure by itself.
  if ((status && !counts[1])); then
    echo "FAILED: $name ended with status $status"
    counts[1]=1
  elif ((counts[0] + counts[1] == 0)); then
    echo "FAILED: $name ran no test"
    counts[1]=1
  fi
  echo "$name: ${counts[0]} passed, ${counts[1]} failed, ${counts[2]} skipped"
  passed=$((passed + counts[0]))
  failed=$((failed + counts[1]))
  skipped=$((skipped + counts[2]))
}

run_pytest() {
  (cd python && ../.venv/bin/python -m pytest -q --durations=15 --junitxml="$results/pytest.xml" tests)
}

# As a job of its own, so that all of it ends with this script; not by setsid,
# as the scheduler would give that half of the machine.
start_tidy() {
  set -m
  nice -n 19 scripts/tidy.sh >build/tidy.log 2>&1 &
  set +m
  tidy_process=$!
  trap 'kill -- "-$tidy_process" 2>/dev/null' EXIT
}

finish_tidy() {
  local status=0
  wait "$tidy_process" || status=$?
  ((status == 0)) || cat build/tidy.log
  return "$status"
}

if ! timed build scripts/build.sh; then
  failed=1
  echo "FAILED: the build"
  finish
fi
export PATH=$root/.venv/bin:$PATH
# Tests wait for processes and for one another; clang-tidy fills the gaps.
if $tidy; then
  start_tidy
fi
check format scripts/format.sh --check
suite lit ninja -C build -k 0 check-amsp
suite unit ninja -C build -k 0 check-amsp-unit
suite integration ninja -C build -k 0 check-amsp-integration
suite python run_pytest
if $tidy; then
  check clang-tidy finish_tidy
fi
finish
