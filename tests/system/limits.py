"""Resource limits that cannot be enforced on this machine are named in the pod's status."""
import json
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_plugins import *  # noqa: E402,F403: sys.path is set above; cases use all names


def condition_of(level, limits):
    """Runs a pod with these limits to its end; returns its condition about limits, or None."""
    made = task("t", "true")
    made["template"]["spec"]["containers"][0]["resources"] = {"limits": limits}
    name = fresh_dir()
    manifest(os.path.join(name, "job.yaml"), job("j", [made], minAvailable=1))
    jobflow("run", "--isolation", level, "--data-dir", os.path.join(name, "d"), os.path.join(name, "job.yaml"))
    pod = json.loads(jobflow("get", "pods", "-o", "json", "--data-dir", os.path.join(name, "d")).stdout)["items"][0]
    return next((c for c in pod["status"]["conditions"] if c["type"] == "ResourceLimits"), None)


# covers: reliability.md SEC-27
def a_limit_that_is_not_enforced_is_named():
    told = condition_of("plain", {"memory": "64Mi", "cpu": "500m"})
    check(told, "no condition")
    check_equal("status", (told["status"], told["reason"]), ("False", "NotEnforced"))
    check_in("memory", "memory: looked at each second", told["message"])
    check_in("cpu", "cpu: not enforced here", told["message"])
    check("cpu" not in condition_of("plain", {"memory": "64Mi"})["message"], "only what the pod asks for")


def without_limits_there_is_nothing_to_tell():
    check_equal("condition", condition_of("plain", {}), None)


# covers: reliability.md SEC-27
def where_control_groups_are_the_pod_says_nothing():
    doctor = jobflow("doctor", code=None).stdout
    if "the kernel enforces limits of memory cpu" not in doctor:
        raise Skip("no control groups for this user")
    check_equal("condition", condition_of("auto", {"memory": "64Mi", "cpu": "500m"}), None)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
