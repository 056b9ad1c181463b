#!/usr/bin/env bash
# `run --keep-going` and `run --retry-failed`, with the run killed before the retry.
# covers: jobflow.md 171 172 173
set -euo pipefail
cd "$TMPDIR"

die() { echo "NOT SO: $*" >&2; cat out err 2>/dev/null >&2 || true; exit 1; }
run() { # run <exit code> <flags…>
    local want=$1 code=0
    shift
    "$JOBFLOW" run -o plain "$@" f.yaml >out 2>err || code=$?
    [ $code = "$want" ] || die "exit code $code, not $want, of: run $*"
}
ran() { [ "$(sort ran | tr '\n' ' ')" = "$1 " ] || die "what ran: $(sort ran | tr '\n' ' '), not $1"; }
template() { # template <name> <command>
    cat <<YAML
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: $1}
spec: {tasks: [{name: main, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i,
  command: [sh, -c, '$2']}]}}}]}
YAML
}
flow() { # flow [<member of the spec>]
    cat <<YAML
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: f}
spec:
  flows:
  - {name: a}
  - {name: b}
  - {name: c, dependsOn: {targets: [a]}}
  - {name: d, dependsOn: {targets: [b]}}
  - {name: e, dependsOn: {targets: [c, d]}}
  ${1:-}
YAML
}
steps() { # step a fails until the file `good` exists
    template a 'echo a >> ran; test -e good'
    for step in b c d e; do template $step "echo $step >> ran; ${1:-true}"; done
}
begin() { rm -rf .jobflow ran good; touch ran; }
# kill_when NAME: starts a run and kills it with -9 once the file `ran` has a line that begins with NAME. The step waits
# for a file `go`, so it outlives the run.
kill_when() {
    rm -f go
    "$JOBFLOW" run -o plain "${@:2}" f.yaml >out 2>err &
    local pid=$!
    until grep -q "^$1" ran; do
        kill -0 $pid || die "it ended before $1 began"
        sleep 0.02
    done
    kill -9 $pid
    wait $pid 2>/dev/null || true
    touch go
}
until_go='until [ -e go ]; do sleep 0.02; done'

{ flow; steps; } >f.yaml
begin
run 1 -j 1
ran "a b" # with one pod at a time, b was running when a failed and d was not
begin
run 1 -j 1 --keep-going
ran "a b d"
echo "ok: --keep-going runs what does not depend on the failure"

begin
{ flow; steps; } | sed "s/echo d >> ran; true/echo d >> ran; $until_go/" >f.yaml
kill_when d --keep-going
run 1
ran "a b d"
echo "ok: a run killed after --keep-going is taken up in the same way, without the flag"

{ flow; steps; } >f.yaml
begin
run 1 --keep-going
ran "a b d"
run 1 --retry-failed
ran "a a b d"
touch good
run 0 --retry-failed
ran "a a a b c d e"
grep -q 'retrying f: 2 of 5' out || die "no word of the retry"
echo "ok: --retry-failed runs what failed and what never ran, and keeps what is completed"
run 0 --retry-failed
ran "a a a b c d e"
grep -q 'succeeded before' out || die "no word of the success"
run 0
ran "a a a a b b c c d d e e"
echo "ok: a success is not retried, but run again without the flag"

begin
run 1 --keep-going
touch good
{ flow; steps "$until_go"; } >f.yaml
kill_when c --retry-failed
run 0
ran "a a b b c d d e" # the templates of b and d were edited, so they run again
echo "ok: a retry that is killed goes on like any run"

begin
{ flow; steps; } >f.yaml
run 1
{ flow "jobRetainPolicy: delete"; steps; } >f.yaml
touch good
run 0 --retry-failed
ran "a a b c d e"
run 2 --retry-failed --fresh
echo "ok: a setting of the flow may change with a retry, and is no edit of a step"

begin
{ flow "failurePolicy: abort"; steps; } >f.yaml
sed -i 's/echo b >> ran; true/echo b >> ran; sleep 300000/; s/echo a >> ran/until grep -q b ran; do sleep 0.02; done; echo a >> ran/' f.yaml
run 1
grep -q Terminated out || die "b is not told as terminated"
sed -i 's/sleep 300000/true/' f.yaml
touch good
run 0 --retry-failed
ran "a a b b c d e"
echo "ok: abort terminates what runs, and a retry runs it again"

begin
{ flow; steps; } >f.yaml
run 1
touch good
"$JOBFLOW" retry jf/f >out 2>err || die "retry"
grep -q 'jobflow.flow.volcano.sh/f is retried by the next' out || die "what is said"
run 0
ran "a a b c d e"
! "$JOBFLOW" retry jf/f >out 2>err || die "a success was retried"
grep -q 'is Succeed: only' err || die "why not"
! "$JOBFLOW" retry job/f-a >out 2>err || die "a job was retried"
echo "ok: retry jf/NAME asks for the same, and the next run goes on"

begin
{ flow; steps; } | sed 's/template: {spec/template: {metadata: {annotations: {sim.jobflow.dev\/exit-code: "EXIT"}}, spec/' >sim.yaml
sed '0,/EXIT/s//1/; s/EXIT/0/' sim.yaml >f.yaml
run 1 --runtime sim --data-dir .jobflow --keep-going
sed 's/EXIT/0/' sim.yaml >f.yaml
run 0 --runtime sim --data-dir .jobflow --retry-failed
grep -q 'retrying f: 2 of 5' out || die "no word of the retry"
echo "ok: the same in a simulation with a data directory"
