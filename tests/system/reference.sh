#!/bin/sh
# docs/reference.md equals the output that the program generates from its field tables.
set -eu
"$JOBFLOW" help reference > "$TMPDIR/reference.md"
if ! diff -u "$JOBFLOW_SOURCE/docs/reference.md" "$TMPDIR/reference.md"; then
    echo "docs/reference.md is out of date: jobflow help reference > docs/reference.md" >&2
    exit 1
fi
