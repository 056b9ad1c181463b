"""The supervisor of pods is a separate small program embedded in jobflow, because its memory mappings are copied for every pod."""
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

MAPPINGS = 40  # bound for the supervisor; the whole program has about two hundred


def the_supervisor_maps_little_and_needs_no_file_of_its_own():
    if SLOW > 1:
        raise Skip("the program is its own supervisor under sanitizers")
    manifest("f.yaml", flow("f", [step("boxed", template="boxed")]),
             template("boxed", tasks=[task("main", "echo up; sleep 600", volumes=[{"name": "v", "emptyDir": {}}])]))
    run = Background("run", "-o", "plain", "--logs", "f.yaml")
    wait_until("the pod is up", lambda: "up" in run.output())
    found = {pid: name for pid, name in descendants().items() if name in ("jobflow-shim", "jobflow-pod")}
    check_equal("supervisors", sorted(set(found.values())), ["jobflow-pod", "jobflow-shim"])
    for pid, name in found.items():
        count = len(read("/proc/%d/maps" % pid).splitlines())
        check(count < MAPPINGS, "%s maps %d things" % (name, count))
        check_in("what it runs", "/memfd:jobflow-shim", os.readlink("/proc/%d/exe" % pid))
    run.signal(signal.SIGINT)
    run.wait()
    nothing_left()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
