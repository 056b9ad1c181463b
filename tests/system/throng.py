"""Runs two hundred pods at once at each isolation level available here. bench/pods.py measures how fast they start."""
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_plugins import *  # noqa: E402,F403: sys.path is set above; cases use all names

PODS = 200
LEVELS = ("plain", "mounts", "full") if os.geteuid() == 0 else ("plain", "user")


def throng(cwd):
    """A job whose pods each write a file when they run and end when the test opens `go` for writing."""
    made = task("w", "cd %s && : > there/$HOSTNAME && : < go" % cwd, PODS, volumes=[{"name": "v", "emptyDir": {}}])
    made["template"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "v", "mountPath": "/v"}]
    return job("j", [made], minAvailable=PODS)


# covers: local-runtime.md LRT-45
@untouched
def two_hundred_pods_are_there_at_once_and_all_end_well():
    for level in LEVELS:
        cwd = fresh_dir()
        os.mkdir("there")
        os.mkfifo("go")
        for path, mode in ((TMP, 0o711), (cwd, 0o711), ("there", 0o777), ("go", 0o666)):  # at level full pods run as an unprivileged user of the host
            os.chmod(path, mode)
        manifest("j.yaml", throng(cwd))
        run = Background("run", "-o", "plain", "-j", str(PODS), "--isolation", level, "--data-dir", "data",
                         "j.yaml", name=level)
        wait_until("all are there at level " + level,
                   lambda run=run: len(os.listdir("there")) == PODS or not run.running())
        if not run.running() and "isolation" in run.errors():
            print("level %s: %s" % (level, run.errors().splitlines()[0]))
            continue
        check_equal("there at level " + level + "\n" + run.errors(), len(os.listdir("there")), PODS)
        go = os.open("go", os.O_RDWR)
        code = run.wait()
        os.close(go)
        check_equal(level + "\n" + run.output() + run.errors(), code, 0)
        check_in(level, "j Completed", run.output())


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
