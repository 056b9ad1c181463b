"""The image that scripts/image.sh makes: what is in it, and the program confined to its file system without any right of root.

# covers: cluster.md CLU-241 CLU-243; see lib_nodes.py
"""
import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
import tarfile

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_cluster import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_nodes import *  # noqa: E402,F403: sys.path is set above; cases use all names

SCRIPT = os.path.join(os.environ["JOBFLOW_SOURCE"], "scripts/image.sh")
FILES = {"usr/bin/jobflow", "etc/passwd", "etc/group", "etc/nsswitch.conf", "etc/ssl/certs/ca-certificates.crt"}
# Mounts the file system read-only with an empty /tmp, and runs the program in it as a user without capabilities. The first
# argument is a folder whose files are copied into /tmp, the second is the program of this machine, which is not used.
CONFINED = """set -e
mount --bind rootfs rootfs
mount -t tmpfs tmpfs rootfs/tmp
cp "$1"/* rootfs/tmp/
mount -o remount,bind,ro rootfs
shift 2
exec unshare --user --map-user=65532 --map-group=65532 --root=rootfs --wd=/tmp /usr/bin/jobflow "$@"
"""


def make_image(directory):
    environment = dict(os.environ, SOURCE_DATE_EPOCH="1767225600")
    done = subprocess.run([SCRIPT, "--program", os.environ["JOBFLOW"], directory], env=environment, capture_output=True, text=True, timeout=DEADLINE)
    if "ca-certificates.crt" in done.stderr or "is not installed" in done.stderr:
        raise Skip(done.stderr)
    check_equal("image.sh: " + done.stderr, done.returncode, 0)
    return done.stdout


def blob(directory, part):
    """The content of a blob that is as long as is said and has the digest that is its name."""
    with open("%s/oci/blobs/sha256/%s" % (directory, part["digest"].split(":")[1]), "rb") as file:
        content = file.read()
    check_equal("blob", ("sha256:" + hashlib.sha256(content).hexdigest(), len(content)), (part["digest"], part["size"]))
    return content


def equal_files_make_an_equal_image_with_nothing_else_in_it():
    check_equal("twice", make_image("one"), make_image("two"))
    check_equal("archives", sha(read_bytes("one/jobflow.tar")), sha(read_bytes("two/jobflow.tar")))
    manifest = json.loads(blob("one", json.loads(read("one/oci/index.json"))["manifests"][0]))
    config = json.loads(blob("one", manifest["config"]))
    check_equal("config", (config["config"]["User"], config["config"]["Entrypoint"]), ("65532:65532", ["/usr/bin/jobflow"]))
    layer = gzip.decompress(blob("one", manifest["layers"][0]))
    check_equal("content", config["rootfs"]["diff_ids"], ["sha256:" + hashlib.sha256(layer).hexdigest()])
    with open("layer.tar", "wb") as file:
        file.write(layer)
    with tarfile.open("layer.tar") as tar:
        members = tar.getmembers()
    for one in members:
        check_equal(one.name, (one.uid, one.gid, one.mode & 0o7022, one.isdir() or one.isreg()), (0, 0, 0, True))
    files = {os.path.normpath(one.name) for one in members if one.isreg()}
    others = {name for name in files - FILES if ".so" not in os.path.basename(name)}
    check_equal("files", (FILES - files, others), (set(), set()))
    with tarfile.open("one/jobflow.tar") as tar:
        check("./manifest.json" in tar.getnames() and "./index.json" in tar.getnames(), "lists for both kinds of programs")


def sha(content):
    return hashlib.sha256(content).hexdigest()


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def confined(folder):
    return ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", CONFINED, "sh", folder]


def need_confinement(folder):
    if os.environ.get("JOBFLOW_MODE") in ("asan", "tsan"):
        raise Skip("a sanitizer's build reads /proc, which the image does not have")
    done = subprocess.run(confined(folder) + ["-", "version"], capture_output=True, text=True, timeout=DEADLINE)
    if "unshare" in done.stderr or "mount" in done.stderr:
        raise Skip("this user cannot make namespaces: " + done.stderr)
    return done


def the_program_runs_confined_to_its_image():
    make_image(".")
    os.mkdir("given")
    write("given/nothing", "")
    done = need_confinement("given")
    check_equal("version: " + done.stderr, (done.returncode, done.stdout), (0, jobflow("version").stdout))
    helped = subprocess.run(confined("given") + ["-", "controller", "--help"], capture_output=True, text=True, timeout=DEADLINE)
    check_in("help", "--mode", helped.stdout)
    cluster = KubeCluster()
    nodes = Nodes(cluster, scheduler="default-scheduler")
    try:
        write("given/kubeconfig", read(cluster.account))
        os.chmod("given/kubeconfig", 0o600)
        controller = Background("controller", "--mode=kube", "--kubeconfig", "/tmp/kubeconfig", "--insecure-cluster", "--leader-elect=false", "--verbose",
                                prefix=confined("given"))
        one = {"name": "a", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox", "command": ["true"]}]}}}
        cluster.make(template("work", tasks=[one]), flow("f", [step("a", template="work"), step("b", ["a"], template="work")]))
        wait_until("the flow ends: " + controller.errors(), lambda: cluster.phase("f") == "Succeed")
        check_equal("pods", nodes.names(), ["f-a-a-0", "f-b-a-0"])
        controller.signal(signal.SIGKILL)  # of unshare, and with it of the whole process namespace
        controller.wait()
    finally:
        nodes.stop()
        cluster.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
