#!/usr/bin/env bash
# Calls that must not appear (SEC-23, SIM-01), looked up in the symbol tables of the built libraries, so that macros cannot
# hide them: scripts/banned.sh build/dev
set -euo pipefail
build=${1:-build/dev}

never='system|popen|strcpy|strcat|sprintf|vsprintf|gets|alloca|strtok|atoi|atol|atoll'
never="$never|__strcpy_chk|__strcat_chk|__sprintf_chk|__vsprintf_chk"
# Time, chance and the environment come from base/clock.c and from cli/ alone; base/term.c asks how the terminal is set up.
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
