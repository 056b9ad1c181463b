#!/usr/bin/env bash
# Installs what is missing, builds, and runs examples/ml-pipeline to its end: real processes, no services.
set -euo pipefail
cd "$(dirname "$0")/.."

data=build/demo # the run's records and logs; look around afterwards

[ "${DEMO_SKIP_DEPS:-0}" = 1 ] || scripts/deps.sh
echo "demo: building build/release/jobflow"
mkdir -p build
if ! { cmake --preset release && cmake --build --preset release --target jobflow; } >build/demo-build.log 2>&1; then
    cat build/demo-build.log
    echo "demo: the build failed" >&2
    exit 1
fi

files=(examples/ml-pipeline/*.yaml)
[ -e "${files[0]}" ] || { echo "demo: examples/ml-pipeline has no manifests" >&2; exit 1; }
rm -rf "$data"
mkdir -p "$data"
echo "demo: build/release/jobflow run --data-dir $data ${files[*]}"
exec build/release/jobflow run --data-dir "$data" "${files[@]}"
