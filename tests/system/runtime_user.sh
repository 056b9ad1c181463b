#!/usr/bin/env bash
# Runs the unit tests of the runtime again as an ordinary user, and a pod with the whole program: volumes, host names and
# the working directory work without any privilege. ctest itself runs the unit tests as the user that started it.
# covers: local-runtime.md LRT-02 LRT-04 LRT-08 LRT-30 LRT-32
set -euo pipefail

if [ "$(id -u)" != 0 ]; then
    echo "skipped: only root can become another user; the unit tests have run as this one"
    exit 77
fi
if [ "$JOBFLOW_MODE" = tsan ]; then
    echo "skipped: ThreadSanitizer runs a thread of its own, and only a single-threaded process may enter a user namespace"
    exit 77
fi
user=65534
as_user() { setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps=-all --no-new-privs "$@"; }

chmod 755 "$TMPDIR"
mkdir -m 755 "$TMPDIR/bin"
mkdir "$TMPDIR/home"
chown "$user:$user" "$TMPDIR/home"
cp "$JOBFLOW" "$TMPDIR/bin/jobflow"
for name in runtime_plain runtime_adopt runtime_reap_lost runtime_starts runtime_sandboxed runtime_network runtime_rights sandbox_sandbox; do
    cp "$(dirname "$JOBFLOW")/tests/test_node_$name" "$TMPDIR/bin/"
    echo "== $name as uid $user"
    as_user mkdir "$TMPDIR/home/$name"
    (cd "$TMPDIR/home" && TMPDIR="$TMPDIR/home/$name" as_user "$TMPDIR/bin/test_node_$name")
done

cat > "$TMPDIR/home/job.yaml" <<'YAML'
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: pair}
spec:
  minAvailable: 2
  tasks:
  - name: worker
    replicas: 2
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: main
          image: none
          command: [sh, -c, 'cat /etc/volcano/worker.host; echo; getent hosts pair-worker-1.pair; hostname; touch seen-$HOSTNAME']
  plugins: {svc: [], env: []}
YAML
cd "$TMPDIR/home"
as_user env HOME="$TMPDIR/home" "$TMPDIR/bin/jobflow" run job.yaml --logs > out.txt 2>&1 || { cat out.txt; exit 1; }
cat out.txt
for name in pair-worker-0 pair-worker-1; do
    test -e "seen-$name"
    grep -q "^\[$name\] $name$" out.txt
    grep -q "^\[$name\] 127\..*pair-worker-1" out.txt
done
