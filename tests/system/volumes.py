"""Volumes of pods as users of others would abuse them: names, paths, links, and what the daemon lets be mounted.

Every case looks from both sides: the pod is told why, and what lies outside is as it was.
"""
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_plugins import *  # noqa: E402,F403


def pod(name, script, volumes, mounts, **spec):
    container = {"name": "c", "command": ["sh", "-c", script], "volumeMounts": mounts}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": dict({"restartPolicy": "Never", "containers": [container], "volumes": volumes}, **spec)}


def ended(daemon, name):
    """The pod's status once it has ended."""
    def look():
        status = daemon.get("pod/" + name)["status"]
        return status if status.get("phase") in ("Succeeded", "Failed") else None
    return wait_until(name + " has ended", look)


def why(status):
    """All that is said about its end."""
    said = [status.get("reason", ""), status.get("message", "")]
    for each in status.get("containerStatuses", []):
        end = each["state"].get("terminated", {})
        said += [end.get("reason", ""), end.get("message", "")]
    return " ".join(said)


# covers: reliability.md SEC-20
def host_paths_are_mounted_by_rule():
    """SEC-20: beneath what was allowed, read-only unless told otherwise, never the daemon's own."""
    need_boxes()
    here = os.getcwd()
    for each in ("ro", "rw", "other"):
        os.mkdir(each)
        os.chmod(each, 0o755)
    write("ro/file", "readable\n")
    write("other/file", "secret\n")
    os.symlink("../other", "ro/out")
    os.symlink("/etc", "rw/etc")
    daemon = Daemon("--allow-host-path", here + "/ro", "--allow-host-path", here + "/rw:rw", "--allow-host-path=" + here + "/data:rw")
    table = [
        # name, path, type, script, phase, what must be said or printed
        ("reads", here + "/ro", "Directory", "cat /m/file; touch /m/x 2>&1", "Failed", "Read-only file system"),
        ("writes", here + "/rw", "", "echo y > /m/y && cat /m/y", "Succeeded", "y"),
        ("makes", here + "/rw/made/deep", "DirectoryOrCreate", "echo z > /m/z && cat /m/z", "Succeeded", "z"),
        ("makes-nothing", here + "/ro/made", "DirectoryOrCreate", "true", "Failed", "No such file"),
        ("foreign", here + "/other", "", "cat /m/file", "Failed", "HostPathForbidden"),
        ("sibling", here + "/ro-not", "", "true", "Failed", "--allow-host-path="),
        ("link", here + "/ro/out", "", "cat /m/file", "Failed", "leads out of"),
        ("absolute-link", here + "/rw/etc", "", "cat /m/passwd", "Failed", "leads out of"),
        ("own-data", here + "/data", "", "ls /m", "Failed", "own data"),
        ("own-store", here + "/data/store.db", "File", "cat /m", "Failed", "own data"),
        ("own-socket", here + "/data/api.sock", "", "cat /m", "Failed", "own data"),
    ]
    for name, path, kind, script, phase, told in table:
        daemon.apply(pod(name, script, [{"name": "v", "hostPath": {"path": path, "type": kind}}], [{"name": "v", "mountPath": "/m"}]))
        status = ended(daemon, name)
        check_equal("phase of " + name, status["phase"], phase)
        check_in(name, told, why(status) + daemon("logs", "pod/" + name, code=None).stdout)
    manifest("climb.yaml", pod("climb", "true", [{"name": "v", "hostPath": {"path": here + "/ro/../other"}}], [{"name": "v", "mountPath": "/m"}]))
    refused = daemon("apply", "-f", "climb.yaml", code=None)
    check("a path that climbs was accepted", refused.returncode != 0)
    check_in("climbing", "spec.volumes[0].hostPath.path", refused.stderr)
    check_equal("what lies outside", sorted(os.listdir("other") + os.listdir("ro")), ["file", "file", "out"])
    daemon.stop()
    nothing_left()


def a_prefix_that_is_none_stops_the_daemon():
    for word in ("relative", "/a/../b", ""):
        done = jobflow("serve", "--data-dir", "data", "--listen", "none", "--allow-host-path=" + word, code=2)
        check_in(word, "--allow-host-path", done.stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
