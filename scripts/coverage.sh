#!/usr/bin/env bash
# Runs the tests in preset cov and prints how much of each room they reach: scripts/coverage.sh [option…] [ctest option…]
#
#   --report     only the report, of what earlier runs have left in build/cov
#   --worst N    also the N files with the most lines that no test reaches
#
# Lines and branches of all sources of the program count. Branches of assertions count, too: the half that fails is never
# taken. Not counted, because nothing can write counters there: what a process does after it has a root of its own
# (node/sandbox/init.c), and what is killed (gcov writes counters when a process ends).
#
# Fails below 92 % of the lines or 80 % of the branches, if the whole suite ran.
set -euo pipefail
cd "$(dirname "$0")/.."

report_only=0 worst=0
ctest_options=()
while [ $# -gt 0 ]; do
    case $1 in
        --report) report_only=1 ;;
        --worst) worst=${2:?--worst needs a number}; shift ;;
        *) ctest_options+=("$1") ;;
    esac
    shift
done

if [ $report_only = 0 ]; then
    mkdir -p build/cov
    cmake --preset cov >build/cov/configure.log || { cat build/cov/configure.log; exit 1; }
    cmake --build --preset cov >build/cov/build.log || { tail -50 build/cov/build.log; exit 1; }
    find build/cov -name '*.gcda' -delete
    # Tests that run as another user, or as a range of ids, write counters too.
    find build/cov -name '*.gcno' | sed 's/gcno$/gcda/' | while IFS= read -r file; do
        : >"$file"
        chmod a+rw "$file"
    done
    ctest --preset cov -j "$(nproc)" --no-label-summary "${ctest_options[@]}" >build/cov/tests.log || {
        echo "coverage: some tests failed, see build/cov/tests.log; the figures are those of all that ran"
        sed -n '/The following tests FAILED/,$p' build/cov/tests.log
    }
fi
exec python3 scripts/coverage.py build/cov "$worst" "${#ctest_options[@]}"
