#!/bin/sh
# Runs one test with its own TMPDIR, removed afterwards. The path is short: sockets live in it.
TMPDIR=$(mktemp -d /tmp/jf.XXXXXX) || exit 1
export TMPDIR
trap 'chmod -R u+rwx "$TMPDIR" 2>/dev/null; rm -rf "$TMPDIR"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
"$@"
