#!/usr/bin/env bash
# Builds the program and its tests: scripts/build.sh [dev|release]. `make` is the same for dev.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-dev}

for tool in cmake ninja gcc pkg-config; do
    command -v $tool >/dev/null || { echo "build: $tool is missing: run scripts/deps.sh first" >&2; exit 1; }
done
if [ -e "build/$preset/build.ninja" ]; then
    echo "build: building what changed into build/$preset"
else
    echo "build: building everything into build/$preset: one to three minutes on two cores"
fi
began=$SECONDS
mkdir -p build
cmake --preset "$preset" >"build/configure-$preset.log" 2>&1 || { cat "build/configure-$preset.log"; exit 1; }
cmake --build --preset "$preset" -j "$(nproc)"
echo "build: build/$preset/jobflow is ready, after $((SECONDS - began)) s"
