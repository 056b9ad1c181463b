"""Attempts to misuse volumes: names, paths, links, and host paths that the daemon may mount.

Every case checks both sides: the pod is told the reason, and files outside its volumes are unchanged.
"""
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_plugins import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_user import can  # noqa: E402: sys.path is set above


def pod(name, script, volumes, mounts, **spec):
    container = {"name": "c", "command": ["sh", "-c", script], "volumeMounts": mounts}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": dict({"restartPolicy": "Never", "containers": [container], "volumes": volumes}, **spec)}


def ended(daemon, name):
    """Waits until the pod has ended; returns its status."""
    def look():
        status = daemon.get("pod/" + name)["status"]
        return status if status.get("phase") in ("Succeeded", "Failed") else None
    return wait_until(name + " has ended", look)


def why(status):
    """Returns all reasons and messages about the end of the pod."""
    said = [status.get("reason", ""), status.get("message", "")]
    for each in status.get("containerStatuses", []):
        end = each["state"].get("terminated", {})
        said += [end.get("reason", ""), end.get("message", "")]
    return " ".join(said)


# covers: reliability.md SEC-20
def host_paths_are_mounted_by_rule():
    """SEC-20: only below allowed directories, read-only by default, and never the daemon's own directory."""
    need_sandboxed_pods()
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
        # name, path, type, script, phase, text expected in message or output
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
    check(refused.returncode != 0, "a path that climbs was accepted")
    check_in("climbing", "spec.volumes[0].hostPath.path", refused.stderr)
    check_equal("what lies outside", sorted(os.listdir("other") + os.listdir("ro")), ["file", "file", "out"])
    daemon.stop()
    nothing_left()


def a_prefix_that_is_none_stops_the_daemon():
    for word in ("relative", "/a/../b", ""):
        done = jobflow("serve", "--data-dir", "data", "--listen", "none", "--allow-host-path=" + word, code=2)
        check_in(word, "--allow-host-path", done.stderr)


def one_container(name, script, mounts):
    return {"name": name, "command": ["sh", "-c", script], "volumeMounts": mounts}


# An init container makes these in /v; the main container mounts them by subPath. Columns: the path, the expected message.
LINKS = [
    ("absolute", "ln -s /etc /v/l", "l", "subPath"),
    ("absolute-below", "ln -s / /v/l", "l/etc", "subPath"),
    ("climbing", "ln -s ../../../../../../../../etc /v/l", "l", "leads out of the volume"),
    ("by-two", "ln -s l2 /v/l; ln -s /etc /v/l2", "l", "subPath"),
    ("in-a-directory", "mkdir /v/d; ln -s /etc /v/d/l", "d/l", "subPath"),
    ("magic", "ln -s /proc/self/root/etc /v/l", "l", "subPath"),
    ("loop", "ln -s l /v/l", "l", "subPath"),
    ("through-a-file", "touch /v/f", "f/x", "subPath"),
    ("dangling", "ln -s /nowhere/at/all /v/l", "l/made", "subPath"),
]


# covers: reliability.md SEC-18; see SEC-17 FT-21
def a_link_that_a_pod_made_leads_a_subpath_nowhere_else():
    need_sandboxed_pods()
    here = os.getcwd()
    os.mkdir("outside")
    write("outside/file", "untouched\n")
    daemon = Daemon()
    table = LINKS + [("to-the-host", "ln -s %s/outside /v/l" % here, "l", "subPath")]
    for name, script, sub, told in table:
        made = pod(name, "", [{"name": "v", "emptyDir": {}}], [])
        made["spec"]["initContainers"] = [one_container("first", script, [{"name": "v", "mountPath": "/v"}])]
        made["spec"]["containers"] = [one_container("c", "ls /m; touch /m/here", [{"name": "v", "mountPath": "/m", "subPath": sub}])]
        daemon.apply(made)
        status = ended(daemon, name)
        check_equal("phase of " + name, status["phase"], "Failed")
        check_in(name, told, why(status))
        check_equal(name + " ran nothing", daemon("logs", "pod/" + name, "-c", "c", code=None).stdout, "")
    inside = pod("inside", "", [{"name": "v", "emptyDir": {}}], [])
    inside["spec"]["initContainers"] = [one_container("first", "mkdir /v/real; echo yes > /v/real/x; ln -s real /v/l", [{"name": "v", "mountPath": "/v"}])]
    inside["spec"]["containers"] = [one_container("c", "cat /m/x", [{"name": "v", "mountPath": "/m", "subPath": "l"}])]
    daemon.apply(inside)
    check_equal("a link that stays inside", ended(daemon, "inside")["phase"], "Succeeded")
    check_equal("what lies outside", os.listdir("outside"), ["file"])
    daemon.stop()
    nothing_left()


# covers: see SEC-18
def a_link_made_between_two_runs_leads_nowhere_else_either():
    """The pod replaces its directory by a link before its container restarts; a second case does so in a claim that another pod mounts."""
    need_sandboxed_pods()
    here = os.getcwd()
    os.mkdir("outside")
    daemon = Daemon("--restart-backoff=100ms")
    swap = "test -e /v/once && { touch /m/second; sleep 30; }; touch /v/once; rm -rf /v/d; ln -s %s/outside /v/d; exit 1" % here
    daemon.apply(pod("swaps", swap, [{"name": "v", "emptyDir": {}}], [{"name": "v", "mountPath": "/v"}, {"name": "v", "mountPath": "/m", "subPath": "d"}],
                     restartPolicy="OnFailure"))
    wait_until("its second run is refused", lambda: "subPath" in json.dumps(daemon.get("pod/swaps")["status"]))
    daemon("delete", "--grace-period=0", "pod/swaps")
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "shared", "namespace": "default"},
             "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}}
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "shared"}}]
    daemon.apply(claim, pod("attacker", "ln -s %s/outside /v/d" % here, volumes, [{"name": "v", "mountPath": "/v"}]))
    check_equal("the attacker", ended(daemon, "attacker")["phase"], "Succeeded")
    daemon.apply(pod("victim", "touch /m/taken", volumes, [{"name": "v", "mountPath": "/m", "subPath": "d"}]))
    check_in("the victim", "subPath", why(ended(daemon, "victim")))
    daemon.apply(pod("reader", "touch /v/x", [{"name": "v", "persistentVolumeClaim": {"claimName": "shared", "readOnly": True}}],
                     [{"name": "v", "mountPath": "/v"}]))
    check_equal("a reader writes nothing", ended(daemon, "reader")["phase"], "Failed")
    check_equal("what lies outside", os.listdir("outside"), [])
    for name in ("attacker", "victim", "reader"):
        daemon("delete", "pod/" + name)
    daemon("delete", "pvc/shared")
    wait_until("the claim's directory is gone", lambda: not any(os.listdir(os.path.join("data/pvc", d)) for d in os.listdir("data/pvc")))
    check_equal("and nothing behind its links", os.path.isdir("outside"), True)
    daemon.stop()
    nothing_left()


# covers: reliability.md SEC-21
def what_a_pod_leaves_in_its_volume_is_removed_and_nothing_else():
    here = os.getcwd()
    os.makedirs("outside/deep")
    write("outside/file", "untouched\n")
    script = ("cd ${VC_MOUNT_ROOT:-}/v || exit 1; ln -s %s/outside out; ln -s / root; mkdir -p locked/in && touch locked/in/f && chmod 0 locked/in locked\n"
              "i=0; while [ $i -lt 300 ]; do mkdir d && cd d || exit 2; i=$((i + 1)); done; touch 'a\nb' -- '-rf' '..x' 'ä'" % here)
    daemon = Daemon()
    daemon.apply(pod("litters", script, [{"name": "v", "emptyDir": {}}], [{"name": "v", "mountPath": "/v"}]))
    uid = daemon.get("pod/litters")["metadata"]["uid"]
    check_equal("phase", ended(daemon, "litters")["phase"], "Succeeded")
    daemon("delete", "pod/litters")
    wait_until("nothing of it is left", lambda: not [d for d, _, _ in os.walk("data/node") if uid in d])
    check_equal("what lies outside", sorted(os.listdir("outside")), ["deep", "file"])
    daemon.stop()
    nothing_left()


VALID = {"name": "v", "configMap": {"name": "m"}}

# Hostile texts in every field of a volume and its mount, and the field that the error must name.
HOSTILE = (
    [({"name": bad, "emptyDir": {}}, {"name": bad, "mountPath": "/m"}, "volumes[0].name")
     for bad in ("..", "../x", "a/b", "A", "a b", "a\nb", "-", "", "x" * 64, "\u202e")] +
    [(VALID, {"name": "v", "mountPath": bad}, "volumeMounts[0].mountPath")
     for bad in ("", "m", "../m", "/a/../b", "/..", "/a:b", "/proc", "/proc/self/fd", "//proc/1", "/./sys/x", "/dev", "/dev/mem", "/dev/./mem", "/", "//", "/.",
                 "/" + "n" * 256, "/" + "deep/" * 820)] +
    [(VALID, {"name": "v", "mountPath": "/m", "subPath": bad}, "volumeMounts[0].subPath") for bad in ("..", "../x", "a/../../x", "/etc", "a/..")] +
    [(VALID, {"name": "v", "mountPath": "/m", "subPathExpr": bad}, "volumeMounts[0].subPathExpr") for bad in ("..", "../$(A)", "/$(A)")] +
    [({"name": "v", "configMap": {"name": "m", "items": [{"key": "k", "path": bad}]}}, {"name": "v", "mountPath": "/m"}, "items[0].path")
     for bad in ("", "..", "../x", "/x", "a/../../x", "..data", "..data/x")] +
    [({"name": "v", "projected": {"sources": [{"secret": {"name": "m", "items": [{"key": "k", "path": bad}]}}]}}, {"name": "v", "mountPath": "/m"},
      "sources[0].secret.items[0].path") for bad in ("..", "../x", "/x")] +
    [({"name": "v", "hostPath": {"path": bad}}, {"name": "v", "mountPath": "/m"}, "hostPath.path") for bad in ("x", "../x", "/a/../b", "/..")])


# covers: reliability.md SEC-17 SEC-19; see FT-22
def hostile_names_are_refused_where_they_are_written():
    daemon = Daemon()
    for volume, mount, field in HOSTILE:
        manifest("one.yaml", pod("p", "true", [volume], [mount]))
        refused = daemon("apply", "-f", "one.yaml", code=None)
        check(refused.returncode == 2, "accepted: %s %s" % (volume, mount))
        check_in("%s %s" % (volume, mount), field, refused.stderr)
    for kind, field in (("ConfigMap", "data"), ("Secret", "stringData")):
        for bad in ("..", ".", "../x", "a/b", "..data", "..2026", "", "x" * 254, "a b", "ä"):
            manifest("one.yaml", {"apiVersion": "v1", "kind": kind, "metadata": {"name": "m", "namespace": "default"}, field: {bad: "v"}})
            check(daemon("apply", "-f", "one.yaml", code=None).returncode == 2, "accepted: a %s with key %r" % (kind, bad))
    check_equal("pods", daemon.get("pods")["items"], [])
    daemon.stop()


def every_kind_of_volume_is_where_it_was_asked_for():
    need_sandboxed_pods()
    objects = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "default"}, "data": {"a": "map\n", "b": "second\n"}},
               {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}, "stringData": {"a": "secret\n", "k": "key\n"}}]
    volumes = [
        {"name": "all", "projected": {"defaultMode": 0o440, "sources": [
            {"configMap": {"name": "m"}}, {"secret": {"name": "s", "items": [{"key": "k", "path": "deep/./k", "mode": 0o400}, {"key": "a", "path": "a"}]}},
            {"downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
                                       {"path": "cpu", "resourceFieldRef": {"containerName": "c", "resource": "limits.cpu", "divisor": "1m"}}]}}]}},
        {"name": "e", "emptyDir": {}}, {"name": "r", "emptyDir": {"medium": "Memory", "sizeLimit": "4Mi"}}]
    mounts = [{"name": "all", "mountPath": "/all"}, {"name": "e", "mountPath": "/out", "subPathExpr": "$(NAME)/x"}, {"name": "e", "mountPath": "/e"},
              {"name": "r", "mountPath": "/ram"}, {"name": "e", "mountPath": "/ro", "readOnly": True}]
    script = ("cat /all/a /all/b /all/deep/k /all/labels; echo; cat /all/cpu; echo; stat -L -c %a /all/a /all/deep/k /all/..data /all/deep\n"
              "echo there > /out/f; cat /e/p/x/f; stat -f -c %T /ram; (echo no > /ro/x) 2> /dev/null || echo read-only; "
              "(echo no > /all/x) 2> /dev/null || echo files are read-only")
    made = pod("p", script, volumes, mounts)
    made["metadata"]["labels"] = {"x": "y"}
    made["spec"]["containers"][0]["env"] = [{"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    made["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "250m"}}
    daemon = Daemon()
    daemon.apply(*objects, made)
    status = ended(daemon, "p")
    check_equal("what it saw (%s)" % why(status), daemon("logs", "pod/p").stdout.splitlines(),
                ["secret", "second", "key", 'x="y"', "250", "440", "400", "755", "755", "there", "tmpfs", "read-only", "files are read-only"])
    daemon.stop()
    nothing_left()


# The second root directory has the same files, and nothing that is mounted in a container is there by itself.
CHROOT = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
          'here=$PWD && mount --rbind / root && exec chroot root sh -c \'cd "$0" && exec "$@"\' "$here" "$@"', "sh"]


def probes_and_hooks_see_the_volumes_of_a_container_in_a_chroot():
    need_sandboxed_pods()
    os.mkdir("root")
    if os.geteuid() or not can(CHROOT + ["true"]):
        raise Skip("only root can change its root directory")
    done = jobflow("run", "-o", "plain", "--logs", os.path.join(SOURCE, "examples/readiness.yaml"), prefix=CHROOT)
    check_in("probed", "[readiness-app-client-0] the server is ready", done.stdout)
    check_in("hooked", "[readiness-app-server-0] stopped in good order", done.stdout)
    nothing_left()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
