#!/usr/bin/env bash
# Fails if a built library calls a banned function (SEC-23, SIM-01): scripts/banned.sh build/dev
# It reads symbol tables instead of sources, so a macro cannot hide a call.
set -euo pipefail
build=${1:-build/dev}

never='system|popen|strcpy|strcat|sprintf|vsprintf|gets|alloca|strtok|atoi|atol|atoll'
never="$never|__strcpy_chk|__strcat_chk|__sprintf_chk|__vsprintf_chk"
# Only base/clock.c and cli/ may read the time, randomness and the environment; base/term.c may read the terminal settings.
clock='time|gettimeofday|clock_gettime|rand|srand|rand_r|random|srandom|drand48|getrandom|getentropy|arc4random'
clock="$clock|getenv|secure_getenv"

shopt -s nullglob
libs=("$build"/lib/*.a)
[ ${#libs[@]} -gt 0 ] || { echo "banned: no libraries in $build/lib; build first" >&2; exit 1; }

# nm prints "lib/libbase.a:clock.c.o:                 U clock_gettime"
found=$(for lib in "${libs[@]}"; do
    case $lib in */libllhttp.a|*/libtest_support.a) continue ;; esac
    nm -A -u "$lib"
done | awk -v never="^($never)\$" -v clock="^($clock)\$" '
    {
        symbol = $NF; sub(/@.*/, "", symbol)
        place = $1; sub(/:$/, "", place); sub(/.*\//, "", place)
        if (symbol ~ never) print place ": " symbol " is banned"
        else if (symbol ~ clock && place !~ /^libbase\.a:clock\.c\.o/ && place !~ /^libcli\.a:/ && place !~ /^libbase\.a:term\.c\.o/)
            print place ": " symbol " belongs to base/clock.c"
    }')
if [ -n "$found" ]; then
    echo "$found"
    exit 1
fi
echo "banned: none of the banned calls in ${#libs[@]} libraries"
