#!/usr/bin/env bash
# Runs the program to generate the manual pages and completion scripts that are installed with it.
#
#   scripts/manuals.sh PROGRAM FOLDER    FOLDER/man/*.1, FOLDER/jobflow.bash, .zsh, .fish
set -euo pipefail
program=$1 folder=$2

mkdir -p "$folder/man"
rm -f "$folder"/man/*.1
"$program" help man >"$folder/man/jobflow.1"
for shell in bash zsh fish; do
    "$program" completion "$shell" >"$folder/jobflow.$shell"
done
for command in $(sed -n 's/^  local commands="\(.*\)"$/\1/p' "$folder/jobflow.bash"); do
    "$program" help man "$command" >"$folder/man/jobflow-$command.1"
done
