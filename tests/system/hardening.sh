#!/usr/bin/env bash
# Checks in the ELF file of the built program that each hardening flag has had its effect.
# covers: reliability.md SEC-38 SA-07
set -euo pipefail

case ${JOBFLOW_MODE:-} in
    dev | release) ;;
    *) echo "skipped: preset ${JOBFLOW_MODE:-?} is not hardened"; exit 77 ;;
esac
command -v readelf >/dev/null || { echo "skipped: readelf is not installed"; exit 77; }

failures=0
expect() { # expect <what> <pattern> <text>
    if grep -Eq -- "$2" <<<"$3"; then
        echo "ok: $1"
    else
        echo "NOT SO: $1"
        failures=$((failures + 1))
    fi
}
refuse() {
    if grep -Eq -- "$2" <<<"$3"; then
        echo "NOT SO: $1: $(grep -Em 3 -- "$2" <<<"$3")"
        failures=$((failures + 1))
    else
        echo "ok: $1"
    fi
}

header=$(readelf -hW "$JOBFLOW")
segments=$(readelf -lW "$JOBFLOW")
dynamic=$(readelf -dW "$JOBFLOW")
symbols=$(nm -D "$JOBFLOW")
notes=$(readelf -nW "$JOBFLOW" 2>/dev/null)

expect "position independent" 'Type: +DYN' "$header"
expect "marked as a program" 'FLAGS_1.*PIE' "$dynamic"
expect "relocations become read-only" 'GNU_RELRO' "$segments"
expect "symbols are bound at start" 'BIND_NOW|FLAGS_1.*NOW' "$dynamic"
expect "the stack is not executable" 'GNU_STACK.* RW ' "$segments"
refuse "no segment is writable and executable" 'LOAD.* RWE ' "$segments"
expect "stack protector" '__stack_chk_fail' "$symbols"
expect "checked library calls" '__(memcpy|snprintf|vsnprintf|fprintf)_chk' "$symbols"
if [ "$(uname -m)" = x86_64 ] && [ -n "$notes" ] && grep -q 'x86 feature' <<<"$notes"; then
    expect "branch targets are marked" 'IBT' "$notes"
fi
# The linker must export data of libraries that is copied into the program; no function of jobflow may be exported.
refuse "no function of ours is exported" ' [TW] (loop|store|buf|job|flow|cluster|node|cli|api)_' "$symbols"
refuse "one TLS library" 'NEEDED.*(gnutls|nss3|mbedtls)' "$dynamic"
refuse "no search path of libraries" 'RPATH|RUNPATH' "$dynamic"

# valgrind reads DWARF 4 from both gcc and clang. The sanitizer presets use the same flag (cmake/flags.cmake).
if [ "$JOBFLOW_MODE" = dev ]; then
    versions=$(readelf --debug-dump=info --dwarf-depth=1 "$JOBFLOW" 2>/dev/null | sed -n 's/^ *Version: *//p' | sort -u)
    expect "debug symbols are DWARF 4, all of them" '^4$' "$versions"
    refuse "no debug symbols in another form" '^[^4]' "$versions"
fi

[ $failures = 0 ]
