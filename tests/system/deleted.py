"""The data directory is deleted by hand while its pods are running."""
import re
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names


def pods_of_a_deleted_directory_are_told_of():
    manifest("f.yaml", flow("f", [step("a")]), template("a", "touch began; sleep 600"))
    run = Background("run", "f.yaml")
    wait_until("the pod runs", lambda: os.path.exists("began"))
    run.signal(signal.SIGKILL)
    run.wait()
    shutil.rmtree(".jobflow")
    manifest("f.yaml", flow("f", [step("a")]), template("a", "true"))
    done = jobflow("run", "f.yaml")
    found = re.search(r"warning: \.jobflow was deleted while pods of it were at work: their supervisors \(process ([\d, ]+)\) stop", done.stderr)
    check(found, "no word of them:\n" + done.stderr)
    for pid in found.group(1).split(", "):
        check(int(pid) in descendants(), "%s is no process of this test" % pid)
    nothing_left()
    check("warning" not in jobflow("run", "f.yaml", "--data-dir", "other").stderr, "another directory is meant")


def a_directory_that_is_still_there_is_no_reason_to_warn():
    manifest("f.yaml", flow("f", [step("a")]), template("a", "touch began; while [ ! -e go ]; do sleep 0.02; done"))
    run = Background("run", "f.yaml")
    wait_until("the pod runs", lambda: os.path.exists("began"))
    manifest("g.yaml", flow("g", [step("a")]), template("a"))
    check_equal("stderr", jobflow("run", "g.yaml", "--data-dir", "other").stderr, "")
    write("go", "")
    check_equal("exit code", run.wait(), 0)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
