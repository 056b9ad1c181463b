"""The Debian package: built by cpack, installed in a bare Debian 12 root, used, upgraded in place, removed and purged.

debootstrap makes the root from the package sources of this machine. All commands in it run in their own mount and pid
namespaces, so users, services and files of the machine stay unchanged.
"""
import glob
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_user import *  # noqa: E402,F403: sys.path is set above; cases use all names

SUITE = "bookworm"
TOOLS = ("debootstrap", "cpack", "dpkg-deb", "unshare", "apt-get")
SLOW_STEP = 900  # seconds for a step that downloads packages


def quiet(argv, seconds=SLOW_STEP, **options):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL, check=False, **options)
    if done.returncode != 0:
        raise Failure("%s: exit code %d\n%s%s" % (" ".join(argv), done.returncode, done.stdout[-4000:], done.stderr[-4000:]))
    return done.stdout


def mirror():
    """Returns the Debian mirror that this machine uses."""
    lines = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"],
                           capture_output=True, text=True, check=False).stdout.splitlines()
    for line in lines:
        uri, release, component = (line.split() + ["", "", ""])[:3]
        if (release, component) == (SUITE, "main"):
            return uri
    raise Skip("apt names no source of %s" % SUITE)


def package():
    """Returns the path of the package, made from the build under test."""
    build = os.path.dirname(os.path.abspath(JOBFLOW))
    if not os.path.exists(os.path.join(build, "CPackConfig.cmake")):
        raise Skip("%s has no CPackConfig.cmake" % build)
    quiet(["cpack", "-G", "DEB", "--config", os.path.join(build, "CPackConfig.cmake"), "-B", os.path.abspath("package")])
    return glob.glob("package/*.deb")[0]


class Root:
    """A bare Debian root below the directory of this test."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        try:
            os.mkdir(self.path, 0o755)
            os.chmod(self.path, 0o755)
            quiet(["debootstrap", "--variant=minbase", SUITE, self.path, mirror()])
        except (Failure, subprocess.TimeoutExpired) as failed:
            raise Skip("no bare Debian can be made here: %s" % str(failed)[-300:]) from failed
        # The root gets the machine's network settings, to reach the package mirror; no service may start in it.
        shutil.copy("/etc/resolv.conf", os.path.join(self.path, "etc/resolv.conf"))
        for name in glob.glob("/etc/apt/apt.conf.d/*proxy*"):
            shutil.copy(name, os.path.join(self.path, "etc/apt/apt.conf.d"))

    def sh(self, script):
        """Returns the output of a script in the root. The script is process 1 of a new pid namespace, so its processes end with it."""
        inside = ("mount -t proc proc $1/proc; mount -t tmpfs tmpfs $1/tmp; mount --rbind /dev $1/dev; mount -t tmpfs tmpfs $1/run;"
                  "exec chroot $1 /bin/bash -euo pipefail -c \"$2\"")
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        return quiet(["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-euc", inside, "bash", self.path, script], env=env)

    def has(self, path):
        return os.path.lexists(os.path.join(self.path, path.lstrip("/")))


SERVICE = """
unit=/lib/systemd/system/jobflow.service
command=$(sed -n 's/^ExecStart=//p' $unit)
user=$(sed -n 's/^User=//p' $unit)
install -d -o $user -g $user -m 700 /var/lib/jobflow
setpriv --reuid $user --regid $user --init-groups $command >/tmp/serve.log 2>&1 &
for try in $(seq 600); do [ -s /var/lib/jobflow/kubeconfig ] && jobflow get queue --kubeconfig /var/lib/jobflow/kubeconfig >/dev/null 2>&1 && break; sleep 0.1; done
[ -s /var/lib/jobflow/kubeconfig ] || { cat /tmp/serve.log >&2; ls -la / /var/lib/jobflow >&2; }
jobflow apply --kubeconfig /var/lib/jobflow/kubeconfig -f /tmp/flow.yaml
jobflow wait --kubeconfig /var/lib/jobflow/kubeconfig jf/hello --timeout 60s
jobflow get jf --kubeconfig /var/lib/jobflow/kubeconfig
kill -TERM %1; wait %1
"""
FLOW = """cat >/tmp/flow.yaml <<'END'
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: hello}
spec: {tasks: [{name: main, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: main, image: debian, command: [sh, -c, "echo hello"]}]}}}]}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: hello}
spec: {flows: [{name: hello}]}
END
"""


def the_package_is_installed_used_and_purged():
    if os.geteuid() != 0:
        raise Skip("making a root file system needs root")
    if os.environ.get("JOBFLOW_MODE") not in (None, "dev", "release"):
        raise Skip("a package is made of a dev or release build")
    for tool in TOOLS:
        if not shutil.which(tool):
            raise Skip("%s is not installed" % tool)
    if not can(["unshare", "--mount", "--pid", "--fork", "true"]):
        raise Skip("no mount namespaces here")
    deb = package()
    root = Root("root")
    shutil.copy(deb, os.path.join(root.path, "jobflow.deb"))

    root.sh("apt-get -qq update; apt-get -qq install -y --no-install-recommends man-db bash-completion /jobflow.deb")
    owned = [path for path in root.sh("dpkg -L jobflow").splitlines() if os.path.isfile(os.path.join(root.path, path.lstrip("/")))]
    check("/usr/bin/jobflow" in owned, "the package has no program: %s" % owned)
    check_in("version", "jobflow ", root.sh("jobflow version"))
    check_in("man jobflow", "COMMANDS", root.sh("man jobflow | cat"))
    check_in("man jobflow-run", "--max-pods", root.sh("man jobflow-run | cat"))
    check_in("completion", "_jobflow", root.sh("source /usr/share/bash-completion/completions/jobflow; complete -p jobflow"))
    check_in("run", "Succeed", root.sh(FLOW + "cd /root; jobflow run --output plain /tmp/flow.yaml 2>&1"))
    check_in("an example", "Succeed", root.sh("cd /root; jobflow run --output plain --data-dir /tmp/data /usr/share/doc/jobflow/examples/fan.yaml 2>&1"))
    check_in("the service", "Succeed", root.sh(FLOW + SERVICE))

    root.sh("apt-get -qq install -y --reinstall /jobflow.deb")
    root.sh("apt-get -qq remove -y jobflow")
    check(root.has("/var/lib/jobflow/kubeconfig") and "jobflow" in root.sh("getent passwd jobflow"), "data and user did not stay until purge")
    root.sh("apt-get -qq purge -y jobflow")
    check_equal("files that are left", [path for path in owned if root.has(path)], [])
    check(not root.has("/var/lib/jobflow"), "the data is left")
    check_equal("the user is left", root.sh("getent passwd jobflow || true"), "")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
