#!/usr/bin/env bash
# Installs missing packages, builds, and runs examples/ml-pipeline with real processes. It needs no service.
#
#   DEMO_SKIP_DEPS=1    does not install packages
set -euo pipefail
cd "$(dirname "$0")/.."

data=build/demo # records and logs of the run; kept after the demo
log=build/demo-build.log
began=$SECONDS

clock() { printf '%d:%02d' $((($1) / 60)) $((($1) % 60)); }

# Copies a build's output to the log, and says every ten seconds how far the build is and how long the rest may take.
report_build() {
    local line done_ all from=$SECONDS told=$SECONDS passed
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$log"
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
        done_=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} passed=$((SECONDS - from))
        if [ $((SECONDS - told)) -ge 10 ] || [ "$done_" = "$all" ]; then
            told=$SECONDS
            printf 'demo: built %d of %d files after %s, about %s to go\n' "$done_" "$all" "$(clock $passed)" \
                "$(clock $((passed * (all - done_) / done_)))"
        fi
    done
}

# How long the first build takes depends on what else the machine does.
estimate="one to three minutes on two free cores, longer where others use them too"
[ "$(nice)" = 0 ] || estimate="$estimate or at a low priority such as this one"

mkdir -p build
if [ "${DEMO_SKIP_DEPS:-0}" != 1 ]; then
    echo "demo: 1 of 3: looking for the packages that the build needs; missing ones are installed, which may take a minute"
    scripts/deps.sh
fi
installed=$SECONDS

if [ -x build/release/jobflow ]; then
    echo "demo: 2 of 3: building what changed into build/release/jobflow"
else
    echo "demo: 2 of 3: building build/release/jobflow ($estimate)"
fi
: >"$log"
echo "demo: cmake looks at the compiler and the libraries; then a line every ten seconds says how far the build is"
if ! cmake --preset release >>"$log" 2>&1 || ! cmake --build --preset release --target jobflow 2>&1 | report_build; then
    cat "$log"
    echo "demo: the build failed" >&2
    exit 1
fi
built=$SECONDS

files=(examples/ml-pipeline/*.yaml)
[ -e "${files[0]}" ] || { echo "demo: examples/ml-pipeline has no manifests" >&2; exit 1; }
rm -rf "$data"
mkdir -p "$data"
echo "demo: 3 of 3: running the pipeline, about ten seconds of work: build/release/jobflow run --data-dir $data ${files[*]}"
build/release/jobflow run --data-dir "$data" "${files[@]}"

printf '\ndemo: the report of the last step (jobflow logs --data-dir %s job/ml-pipeline-report)\n' "$data"
build/release/jobflow logs --data-dir "$data" job/ml-pipeline-report
printf '\ndemo: done after %s: packages %s, build %s, run %s\n' "$(clock $((SECONDS - began)))" \
    "$(clock $((installed - began)))" "$(clock $((built - installed)))" "$(clock $((SECONDS - built)))"
