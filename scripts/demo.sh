#!/usr/bin/env bash
# Installs what is missing, builds, and runs examples/ml-pipeline to its end: real processes, no services.
set -euo pipefail
cd "$(dirname "$0")/.."

data=build/demo # the run's records and logs; look around afterwards

[ "${DEMO_SKIP_DEPS:-0}" = 1 ] || scripts/deps.sh
build() { cmake --preset release && cmake --build --preset release --target jobflow; }

echo "demo: building build/release/jobflow (a minute or two the first time)"
mkdir -p build
if [ -t 1 ]; then
    build # its own progress
elif ! build >build/demo-build.log 2>&1; then
    cat build/demo-build.log
    echo "demo: the build failed" >&2
    exit 1
fi

files=(examples/ml-pipeline/*.yaml)
[ -e "${files[0]}" ] || { echo "demo: examples/ml-pipeline has no manifests" >&2; exit 1; }
rm -rf "$data"
mkdir -p "$data"
echo "demo: build/release/jobflow run --data-dir $data ${files[*]}"
build/release/jobflow run --data-dir "$data" "${files[@]}"

printf '\ndemo: the report of the last step (jobflow logs --data-dir %s job/ml-pipeline-report)\n' "$data"
build/release/jobflow logs --data-dir "$data" job/ml-pipeline-report
