#!/usr/bin/env bash
# Runs all checks that a change must pass: builds, tests, sanitizers, linters. Installs missing packages first.
#
#   scripts/check.sh    all checks except the following
#   CHECK_TSAN=1        also runs the whole suite under ThreadSanitizer
#   CHECK_TIDY=1        also runs clang-tidy, which takes as long as the rest
#   CHECK_LONG=1        also installs PyTorch, so that its tests run, fuzzes each target for two minutes with new inputs
#                       instead of a few seconds with the same inputs each time, and plants the changes of tests/mutants,
#                       each of which a test must notice: hours
#   CHECK_SKIP_DEPS=1   does not install packages
#   CHECK_WEB=0         does not install a browser; the tests that need one are skipped
#
# The first failing step ends the script and prints its output. Otherwise the summary of ctest comes last.
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=$(nproc)
began=$SECONDS
echo "check: builds with and without sanitizers, every test, linters: 20 to 45 minutes on two cores"
log=build/check
step_name=

clock() { printf '%d:%02d' $((($1) / 60)) $((($1) % 60)); }

# step <words> -- <command …>: runs quietly, shows the output only when it fails.
step() {
    local from=$SECONDS
    step_name=$1
    shift 2
    printf '%-54s' "check: $step_name"
    if "$@" >"$log/step.log" 2>&1; then
        printf 'ok    %6s\n' "$(clock $((SECONDS - from)))"
    else
        printf 'FAILED %5s\n' "$(clock $((SECONDS - from)))"
        cat "$log/step.log"
        echo "check: $step_name failed"
        exit 1
    fi
}

run_ctest() { ctest --preset "$1" -j "$jobs" --no-label-summary "${@:2}"; }

mkdir -p $log
[ "${CHECK_SKIP_DEPS:-0}" = 1 ] || scripts/deps.sh --check

step "configure dev" -- cmake --preset dev
step "build dev" -- cmake --build --preset dev -j "$jobs"
step "layers" -- cmake -P tests/layers.cmake
step "conformance ids" -- scripts/conformance.sh
step "cited rules" -- python3 tests/citations.py
step "named hosts" -- python3 tests/hosts.py
step "planted changes fit the sources" -- tests/mutants/run.py --check
step "banned calls" -- scripts/banned.sh build/dev
step "format" -- cmake --build --preset dev --target format-check

step "types of the page" -- tsc -p web/page

step "random walks of jobs" -- env JOBFLOW_SEEDS=20000 build/dev/tests/test_job_random
step "random walks of flows" -- env JOBFLOW_SEEDS=20000 build/dev/tests/test_flow_random

step "configure asan" -- cmake --preset asan
step "build asan" -- cmake --build --preset asan -j "$jobs"
step "tests under AddressSanitizer and UBSan" -- run_ctest asan

if [ "${CHECK_TSAN:-0}" = 1 ]; then
    step "configure tsan" -- cmake --preset tsan
    step "build tsan" -- cmake --build --preset tsan -j "$jobs"
    step "tests under ThreadSanitizer" -- run_ctest tsan
fi

step "configure fuzz" -- cmake --preset fuzz
step "build fuzz, with the other compiler" -- cmake --build --preset fuzz -j "$jobs"
# A check that drew new inputs, or as many as its machine's speed allows, would let a change pass or fail by luck.
if [ "${CHECK_LONG:-0}" = 0 ]; then
    step "fuzz targets, the same inputs each time" -- scripts/fuzz.sh --quick
else
    step "fuzz targets, two minutes each" -- scripts/fuzz.sh --fresh --seconds 120
fi

step "configure release" -- cmake --preset release
step "build release" -- cmake --build --preset release -j "$jobs" --target jobflow
step "hardening of the release program" -- run_ctest release -R '^system_hardening$'

step "cppcheck" -- cmake --build --preset dev --target cppcheck
if [ "${CHECK_TIDY:-0}" = 1 ]; then
    step "clang-tidy" -- cmake --build --preset dev --target tidy
fi

if [ "${CHECK_LONG:-0}" != 0 ]; then
    step "planted changes are noticed" -- tests/mutants/run.py
fi

echo "check: tests, after $(clock $((SECONDS - began)))"
run_ctest dev
