#!/bin/sh
# Runs one test with its own TMPDIR, removed afterwards. The path is short, because sockets live in it.
base=${TMPDIR:-/tmp}
case $base in
    /dev/* | ?????????????????????*) base=/tmp ;; # pods have a /dev of their own
esac
TMPDIR=$(mktemp -d "$base/jf.XXXXXX") || exit 1
export TMPDIR
trap 'chmod -R u+rwx "$TMPDIR" 2>/dev/null; rm -rf "$TMPDIR"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
"$@"
