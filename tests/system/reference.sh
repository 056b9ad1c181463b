#!/bin/sh
# docs/reference.md is what the field tables say.
set -eu
"$JOBFLOW" help reference > "$TMPDIR/reference.md"
if ! diff -u "$JOBFLOW_SOURCE/docs/reference.md" "$TMPDIR/reference.md"; then
    echo "docs/reference.md is out of date: jobflow help reference > docs/reference.md" >&2
    exit 1
fi
