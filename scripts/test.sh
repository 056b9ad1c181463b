#!/usr/bin/env bash
# Runs the quick suite in the dev build: unit tests, corpora of the fuzzers and checks of the source tree. It takes about
# three minutes on two cores. scripts/check.sh runs all tests.
#
#   scripts/test.sh              all of them
#   scripts/test.sh REGEX        tests whose names match, whole-program tests included: scripts/test.sh system_run
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=$(nproc)
[ -e build/dev/build.ninja ] || scripts/build.sh
if [ $# -gt 0 ]; then
    exec ctest --preset dev -j "$jobs" --no-label-summary -R "$1"
fi
echo "test: unit tests, fuzz corpora and checks of the tree: about three minutes on two cores"
exec ctest --preset dev -j "$jobs" --no-label-summary -LE system
