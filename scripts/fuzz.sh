#!/usr/bin/env bash
# Fuzzes the targets of tests/fuzz, one after another: scripts/fuzz.sh [--seconds N | --quick] [--seed N] [--keep] [target …]
#
#   --seconds N   how long each target runs, 60 by default; without targets: every target
#   --quick       each target gets a fixed number of inputs from seed 1, which takes some seconds. The speed of the machine
#                 does not decide what is tried; keys and times that a target draws itself still differ.
#   --seed N      what the inputs are drawn from; 0, the default, takes the time
#   --keep        adds inputs that reach new code to tests/fuzz/corpus, at most 300 files for each target
#   --fresh       forgets a round that was interrupted; without it, the round goes on where it stopped
#
# Inputs of earlier rounds are kept in build/fuzz/corpus, and reduced to those that reach code that no smaller one reaches.
# An input that a target fails on is written to build/fuzz/findings, and is one file of the corpus once the cause is mended.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=60 seed=0 keep=0 fresh=0 quick=0
targets=()
while [ $# -gt 0 ]; do
    case $1 in
        --seconds) seconds=${2:?--seconds needs a number}; shift ;;
        --quick) quick=1 fresh=1 seed=1 seconds=1 ;;
        --seed) seed=${2:?--seed needs a number}; shift ;;
        --keep) keep=1 ;;
        --fresh) fresh=1 ;;
        -*) sed -n '2,11p' "$0" | cut -c3- >&2; exit 2 ;;
        *) targets+=("${1#fuzz_}") ;;
    esac
    shift
done

build=build/fuzz
round=$build/round # lines "target seconds-left"
most_files=300 most_bytes=4096
mkdir -p $build/corpus $build/findings
cmake --preset fuzz >$build/configure.log || { cat $build/configure.log; exit 1; }
cmake --build --preset fuzz >$build/build.log || { tail -50 $build/build.log; exit 1; }

if [ ${#targets[@]} -eq 0 ]; then
    for path in tests/fuzz/fuzz_*.c; do
        name=${path##*/fuzz_}
        targets+=("${name%.c}")
    done
fi
for target in "${targets[@]}"; do
    [ -x "$build/fuzz/fuzz_$target" ] || { echo "fuzz: no target $target in tests/fuzz" >&2; exit 2; }
done
[ $fresh = 0 ] || rm -f $round
if [ -s $round ]; then
    echo "fuzz: going on with the round that was interrupted (--fresh begins a new one)"
else
    printf "%s $seconds\n" "${targets[@]}" >$round
fi

# Filling new memory and keeping much freed memory cost a third of the speed and find nothing that the rest does not.
export ASAN_OPTIONS=malloc_context_size=8:quarantine_size_mb=8:max_malloc_fill_size=0:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# The longest input of a target. A short input of the API is a few requests, which is what finds most in a given time.
length_of() {
    case $1 in
        api) echo 2048 ;;
        *) echo $most_bytes ;;
    esac
}

# How many inputs a target gets with --quick.
quick_runs_of() {
    case $1 in
        api | manifest | proc) echo 3000 ;;
        http | sshkey | store | wal | watch) echo 10000 ;;
        settings | signin | values) echo 30000 ;;
        *) echo 100000 ;;
    esac
}

common=(-timeout=20 -rss_limit_mb=2048 -print_funcs=0 -verbosity=1)

# fuzz <target> <seconds>: false when it found something.
fuzz() {
    local work=$build/corpus/$1 seeds=tests/fuzz/corpus/$1 dict=tests/fuzz/dict/$1
    local options=("${common[@]}" -entropic=0 -seed="$seed" -max_len="$(length_of "$1")")

    mkdir -p "$work" "$seeds"
    # What earlier rounds found would change what is drawn.
    if [ $quick = 1 ]; then
        rm -rf "$work"
        mkdir "$work"
        options+=(-runs="$(quick_runs_of "$1")")
    else
        options+=(-max_total_time="$2")
    fi
    [ ! -e "$dict" ] || options+=(-dict="$dict")
    "$build/fuzz/fuzz_$1" "${options[@]}" -artifact_prefix="$build/findings/$1-" "$work" "$seeds" >"$build/$1.log" 2>&1
}

# reduce <target>: the smallest inputs that together reach what all reach.
reduce() {
    local work=$build/corpus/$1

    rm -rf "$work.new"
    mkdir "$work.new"
    if "$build/fuzz/fuzz_$1" "${common[@]}" -merge=1 "$work.new" "tests/fuzz/corpus/$1" "$work" >"$build/$1.merge.log" 2>&1; then
        rm -rf "$work"
        mv "$work.new" "$work"
    else
        rm -rf "$work.new"
    fi
}

# keep <target>: inputs whose code no file in the tree reaches, the smallest first.
keep_new() {
    local seeds=tests/fuzz/corpus/$1 new=$build/corpus/$1.keep file there

    rm -rf "$new"
    mkdir "$new"
    cp -r "$seeds/." "$new"
    "$build/fuzz/fuzz_$1" "${common[@]}" -merge=1 -use_counters=0 "$new" "$build/corpus/$1" >"$build/$1.keep.log" 2>&1 || true
    there=$(find "$seeds" -type f | wc -l)
    find "$new" -type f -size -${most_bytes}c -printf '%s %p\n' | sort -n | cut -d' ' -f2- | while IFS= read -r file; do
        [ ! -e "$seeds/${file##*/}" ] || continue
        [ "$there" -lt $most_files ] || break
        cp "$file" "$seeds/"
        there=$((there + 1))
    done
    rm -rf "$new"
}

slice=60 # an interrupted round loses no more than this many seconds
failed=0
while read -r target left <$round; do
    time=$((left < slice ? left : slice))
    if fuzz "$target" "$time"; then
        left=$((left - time))
    else
        tail -40 "$build/$target.log"
        echo "fuzz: $target FAILED: the input is in $build/findings; run it again with $build/fuzz/fuzz_$target FILE"
        failed=1 left=0
    fi
    if [ $left -gt 0 ]; then
        sed -i "1s/.*/$target $left/" $round
        continue
    fi
    reduce "$target"
    [ $keep = 0 ] || keep_new "$target"
    sed -i 1d $round
    awk -v target="$target" -v files="$(find "$build/corpus/$target" -type f | wc -l)" '
        /^Done / { runs = $2; took = $5 }
        /cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") reached = $(i + 1) }
        END { printf "fuzz: %-14s %9d runs in %d s, %6d places reached, %5d inputs\n", target, runs, took, reached, files }
    ' "$build/$target.log"
done
rm -f $round
exit $failed
