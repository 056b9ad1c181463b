#!/usr/bin/env bash
# Installs missing packages, builds, and runs examples/ml-pipeline with real processes. It needs no service.
set -euo pipefail
cd "$(dirname "$0")/.."

data=build/demo # records and logs of the run; kept after the demo

[ "${DEMO_SKIP_DEPS:-0}" = 1 ] || scripts/deps.sh
build() { cmake --preset release && cmake --build --preset release --target jobflow; }

mkdir -p build
began=$SECONDS
echo "demo: 1 of 2: building build/release/jobflow (one to three minutes on two free cores the first time)"
if [ -t 1 ]; then
    build # prints its own progress
else
    # Prints one line per tenth of the build, to show progress on a slow machine.
    build 2>&1 | tee build/demo-build.log | awk -v FS='[][/]' '
        $2 > 0 && $3 > 0 && int(10 * $2 / $3) > tenth { tenth = int(10 * $2 / $3); printf "demo: built %d of %d files\n", $2, $3; fflush() }' ||
        { cat build/demo-build.log; echo "demo: the build failed" >&2; exit 1; }
fi
echo "demo: built after $((SECONDS - began)) s"

files=(examples/ml-pipeline/*.yaml)
[ -e "${files[0]}" ] || { echo "demo: examples/ml-pipeline has no manifests" >&2; exit 1; }
rm -rf "$data"
mkdir -p "$data"
echo "demo: 2 of 2: build/release/jobflow run --data-dir $data ${files[*]}"
build/release/jobflow run --data-dir "$data" "${files[@]}"

printf '\ndemo: the report of the last step (jobflow logs --data-dir %s job/ml-pipeline-report)\n' "$data"
build/release/jobflow logs --data-dir "$data" job/ml-pipeline-report
