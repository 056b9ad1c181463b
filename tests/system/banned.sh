#!/usr/bin/env bash
# scripts/banned.sh finds no banned call in the libraries, and it does find one in a test object. Time and randomness come
# from base/clock.c only.
# covers: reliability.md SA-05 SEC-23; see SIM-01
set -euo pipefail

case ${JOBFLOW_MODE:-} in
    dev | release) ;;
    *) echo "skipped: preset ${JOBFLOW_MODE:-?} brings calls of its own"; exit 77 ;;
esac
command -v nm ar cc >/dev/null || { echo "skipped: nm, ar or cc is not installed"; exit 77; }
banned=$JOBFLOW_SOURCE/scripts/banned.sh

"$banned" "$(dirname "$JOBFLOW")"

cd "${TMPDIR:?}"
mkdir -p planted/lib
for call in 'system("true")' 'rand()' 'getenv("HOME")'; do
    printf '#include <stdlib.h>\n#include <stdio.h>\nint planted(void);\nint planted(void) { return %s != 0; }\n' "$call" >planted.c
    rm -f planted/lib/*
    cc -c planted.c && ar rc planted/lib/libplanted.a planted.o
    if "$banned" planted; then
        echo "NOT SEEN: $call"
        exit 1
    fi
done
