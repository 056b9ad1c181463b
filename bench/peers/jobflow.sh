#!/bin/sh
# Runs jobflow as a peer of a benchmark runner. usage: jobflow.sh prep|run|check DIR
#   prep   makes an empty data directory (untimed)
#   run    runs DIR/jobtemplates.yaml and DIR/jobflow.yaml to completion with durable writes (timed)
#   check  checks in the store, after the run, that every job of the flow is Completed
# JOBS is the number of parallel pods, JOBFLOW the program, JOBFLOW_FLAGS further flags of `run`.
set -e
program=${JOBFLOW:-$(dirname "$0")/../../build/release/jobflow}
program=$(readlink -f "$program")
cd "$2"
case $1 in
prep) rm -rf jobflow-data ;;
# shellcheck disable=SC2086 # JOBFLOW_FLAGS is split into words
run) exec "$program" run -j "${JOBS:-2}" --output quiet --data-dir jobflow-data ${JOBFLOW_FLAGS:-} jobtemplates.yaml jobflow.yaml ;;
check)
    completed=$("$program" get vcjob --data-dir jobflow-data --no-headers | grep -c ' Completed ')
    [ "$completed" = "$(wc -l < dag.txt)" ]
    ;;
*) echo "usage: $0 prep|run|check DIR" >&2; exit 2 ;;
esac
