"""Frameworks running in pods: Open MPI, PyTorch and Ray. Each is optional (scripts/deps.sh --extras); a case is skipped,
with the reason, if its framework does not work here.

JOBFLOW_ROUNDS=20 repeats the cases that run many jobs at once; all rounds must succeed.
"""
import re
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_plugins import *  # noqa: E402,F403: sys.path is set above; cases use all names

ROUNDS = int(os.environ.get("JOBFLOW_ROUNDS", "1"))


def need_mpi(options):
    if "private" in options:  # pods may listen on port 22
        need_sshd_program()
    else:
        need_sshd()
    need_open_mpi()


def need_pytorch(options):
    need_torch()


def rounds(path, *options):
    """Yields the round numbers; prints each round if there are several."""
    for round_ in range(1, ROUNDS + 1):
        began = time.monotonic()
        yield jobflow("run", "-o", "plain", "--logs", "--data-dir", "data-%d" % round_, "-j", "16", *options, path).stdout
        if ROUNDS > 1:
            print("round %d of %d is right, %.1f s" % (round_, ROUNDS, time.monotonic() - began), flush=True)


def twice(example, step):
    """Returns an example's manifests with a flow that runs its one job as `one` and as `two` in parallel."""
    text = read(os.path.join(SOURCE, "examples", example))
    check_in("the example", "  - name: %s\n" % step, text)
    return text.replace("  - name: %s\n" % step, "".join("  - {name: %s, jobTemplateName: %s}\n" % (name, step) for name in ("one", "two")), 1)


def check_ranks(kind, wanted, out):
    """Checks that each rank printed its place exactly once and that nothing else was printed."""
    check_equal("ranks of " + kind, sorted(re.findall(r"\[(%s-\S+?)(?:/main)?\] (rank \d of 2 on [\w-]+)" % kind, out)), sorted(wanted))


def check_mpi(out):
    check_ranks("mpi", [("mpi-%s-launcher-0" % name, "rank %d of 2 on mpi-%s-worker-%d" % (rank, name, rank))
                        for name in ("one", "two") for rank in (0, 1)], out)
    for name in ("one", "two"):
        check_equal("right sums of " + name, out.count("[mpi-%s-launcher-0/main] rank" % name), out.count("on mpi-%s-worker-0, sum 1" % name) +
                    out.count("on mpi-%s-worker-1, sum 1" % name))


def check_torch(out):
    check_ranks("pytorch", [("pytorch-%s-%s-0" % (name, role), "rank %d of 2 on pytorch-%s-%s-0" % (rank, name, role))
                            for name in ("one", "two") for rank, role in enumerate(("master", "worker"))], out)
    for name in ("one", "two"):
        check_in(name, "[pytorch-%s-master-0] same weights" % name, out)


# Per example: required programs, file and step, and the expected output.
CROWD = [(need_mpi, "mpi.yaml", "sum", check_mpi), (need_pytorch, "pytorch.yaml", "train", check_torch)]


def crowd(*options):
    """Runs each example twice, all in parallel: four sshd on port 22, two masters on port 23456."""
    able, why = [], []
    for row in CROWD:
        try:
            row[0](options)
            able.append(row)
        except Skip as reason:
            why.append(str(reason))
    if not able:
        raise Skip("; ".join(why))
    for reason in why:
        print("without one framework: %s" % reason)
    write("crowd.yaml", "---\n".join(twice(example, step) for _, example, step, _ in able))
    for out in rounds("crowd.yaml", *options):
        for _, _, _, right in able:
            right(out)


# covers: job-plugins.md PLG-140 PLG-141; local-runtime.md LRT-50 LRT-52
@untouched
def two_jobs_of_each_framework_at_once_keep_to_their_own_pods():
    crowd()


@untouched
def two_jobs_of_each_framework_keep_apart_at_level_user():
    if os.geteuid() != 0:
        raise Skip("only a run started by root has ids to give")
    need_sandboxed_pods()
    crowd("--isolation", "full")


@untouched
def two_jobs_of_each_framework_keep_apart_in_a_private_network():
    need_private_network()
    crowd("--network", "private")


@untouched
def plain_pods_run_two_mpi_jobs_at_once():
    """Runs the example twice in parallel: four sshd of an ordinary user, all on port 2222."""
    need_open_mpi()
    need_sshd_program()
    need_login()
    need_plain()
    write("mpi.yaml", twice("mpi-plain.yaml", "sum"))
    for out in rounds("mpi.yaml"):
        for name, rank in (("one", 0), ("one", 1), ("two", 0), ("two", 1)):
            check_in(name, "[mpi-plain-%s-launcher-0/main] rank %d of 2 in mpi-plain-%s-worker-%d, sum 1" % (name, rank, name, rank), out)


def an_mpi_job_ends_when_its_workers_have_no_sshd():
    """The launcher would wait five minutes for workers whose sshd does not start."""
    need_open_mpi()
    need_sshd_program()
    need_login()
    write("mpi.yaml", read(os.path.join(SOURCE, "examples", "mpi-plain.yaml")).replace("/usr/sbin/sshd -D", "false"))
    done = jobflow("run", "--isolation", "plain", "-o", "plain", "mpi.yaml", code=1)
    check_in("why", "TerminateJob after PodFailed of pod mpi-plain-sum-worker-", done.stdout)


@untouched
def plain_pods_run_two_pytorch_jobs_at_once():
    """Runs the example with its one mount path adapted to level plain; both masters listen on port 23456."""
    need_torch()
    need_plain()
    text = twice("pytorch.yaml", "train")
    command = "command: [/usr/bin/python3, -u, /source/train.py]"
    check_in("the example", command, text)
    write("pytorch.yaml", text.replace(command, "command: [sh, -c, exec /usr/bin/python3 -u $VC_MOUNT_ROOT/source/train.py]"))
    for out in rounds("pytorch.yaml"):
        for name in ("one", "two"):
            for rank, pod in enumerate(("master-0]", "worker-0/main]")):
                check_in(name, "[pytorch-%s-%s rank %d of 2" % (name, pod, rank), out)
            check_in(name, "[pytorch-%s-master-0] same weights" % name, out)


@untouched
def plain_pods_are_told_addresses_in_every_list():
    """Checks every plugin that publishes addresses: variables, arguments, files, TF_CONFIG and the configuration of ssh."""
    need_plain()
    tell = 'cd "$VC_MOUNT_ROOT/etc/volcano"; echo "$VC_W_HOSTS | $(paste -sd, w.host) | $MPI_HOST | $MASTER_ADDR | $TF_CONFIG | $0"; ' \
           'sed -n "s/ *HostName //p" "$VC_SSH_DIR/config" | paste -sd,'
    teller = task("master", tell)
    teller["template"]["spec"]["containers"][0]["command"].append("j-w-1.j.default.svc:80")
    out = run_jobs(job("j", [task("w", "true", 2), teller], minAvailable=3, plugins={
        "svc": [], "ssh": [], "mpi": ["--worker=w"], "pytorch": ["--worker=w"], "tensorflow": ["--worker=w"]}))
    found = re.search(r"\[j-master-0\] (.*)\n", out)
    check(found, "the line\n" + out)
    hosts, file, mpi, master, tf, argument = found.group(1).split(" | ")
    workers = hosts.split(",")
    check(len(workers) == 2 and all(re.fullmatch(r"127\.\d+\.\d+\.\d+", w) for w in workers), "addresses\n" + out)
    check_equal("file", file, hosts)
    check_equal("MPI_HOST", mpi, hosts)
    check_equal("workers of TF_CONFIG", json.loads(tf)["cluster"]["worker"], [w + ":2222" for w in workers])
    check_equal("argument", argument, workers[1] + ":80")
    check_in("ssh's configuration", "[j-master-0] %s,%s" % (hosts, master), out)


# A stand-in for ray: parses commands as ray's own parser does, rejects unknown ones, and plays their effect with sockets.
RAY = '''#!/usr/bin/python3
import argparse, os, socket, sys, threading, time
parser = argparse.ArgumentParser()
parser.add_argument("start", choices=["start"])
parser.add_argument("--head", action="store_true")
parser.add_argument("--block", action="store_true")
parser.add_argument("--dashboard-host")
for name in ("--port", "--dashboard-port", "--ray-client-server-port"):
    parser.add_argument(name, type=int)
parser.add_argument("--address")
a = parser.parse_args()
if not a.block or a.head == bool(a.address):
    sys.exit("ray: neither head nor worker that blocks")
if a.head:
    servers = [socket.create_server(("0.0.0.0", p)) for p in (a.ray_client_server_port, a.dashboard_port, a.port)]
    def serve(server, word):
        while True:
            server.accept()[0].sendall(word)
    for server, word in zip(servers, (b"client", b"dashboard")):
        threading.Thread(target=serve, args=(server, word), daemon=True).start()
    for n in range(4):
        print(servers[2].accept()[0].recv(99).decode(), flush=True)
else:
    host, gcs = a.address.split(":")
    while True:
        try:
            c = socket.create_connection((host, gcs))
            break
        except ConnectionRefusedError:
            time.sleep(0.02)
    c.sendall(b"joined: " + os.uname().nodename.encode())
    c.close()
    for service in (host, "ray-cluster-head-svc"):
        for port, name in ((8265, "dashboard"), (10001, "client")):
            c = socket.create_connection((service, port))
            print(c.recv(99).decode(), "of", service, flush=True)
    socket.create_connection((host, gcs)).sendall(b"left")
    while True:
        time.sleep(60)
'''


@untouched
def a_ray_cluster_forms_as_its_commands_say():
    """Runs examples/ray.yaml with the stand-in for ray; the driver ends when the head does."""
    os.mkdir("bin")
    os.chmod(write("bin/ray", RAY), 0o755)
    text = read(os.path.join(SOURCE, "examples", "ray.yaml"))
    path = "          env: [{name: PATH, value: \"%s:/usr/bin:/bin\"}]\n" % os.path.abspath("bin")
    text = text.replace("          image: rayproject/ray\n", "          image: rayproject/ray\n" + path)
    text = re.sub(r"  - name: driver\n    replicas: 1.*?\n(?=---|\Z)", "", text, flags=re.S)
    text = text.replace("  minAvailable: 4\n", "  minAvailable: 3\n").replace(
        "  - name: head\n    replicas: 1\n", "  - name: head\n    replicas: 1\n    policies: [{event: TaskCompleted, action: CompleteJob}]\n")
    write("ray.yaml", text)
    done = jobflow("run", "-o", "plain", "--logs", "ray.yaml")
    out = done.stdout
    check_in("told", "note: ray.yaml:" if level() != "plain" else "warning: ray.yaml:", done.stderr)
    check_in("told", "spec.plugins[ray]: nodes of Ray announce the address of their interface", done.stderr)
    check_in("workers", "[ray-cluster-head-0] joined: ray-cluster-worker-0", out)
    check_in("workers", "[ray-cluster-head-0] joined: ray-cluster-worker-1", out)
    for index in (0, 1):
        for name in ("dashboard", "client"):
            for host in ("ray-cluster-head-0.ray-cluster", "ray-cluster-head-svc"):
                check_in("ports", "[ray-cluster-worker-%d] %s of %s" % (index, name, host), out)


# Two rounds: first both workers connect, then the head sends them their command.
HEAD = """
import socket
server = socket.create_server(("0.0.0.0", 6379))
for answer in (b"fail", b"stay"):
    came = [server.accept()[0] for _ in range(2)]
    for c in came:
        print(c.recv(999).decode(), flush=True)
    for c in came:
        c.sendall(answer)
"""
WORKER = """
import hashlib, json, os, socket, sys, time
key = hashlib.sha256(open("/root/.ssh/id_rsa", "rb").read()).hexdigest()[:8]
task = json.loads(os.environ["TF_CONFIG"])["task"]
while True:
    try:
        c = socket.create_connection(("r-head-svc", 6379))
        c.sendall(("%s is %s %d with key %s" % (os.uname().nodename, task["type"], task["index"], key)).encode())
        answer = c.recv(9)
    except ConnectionError:
        time.sleep(0.02)
        continue
    if answer == b"fail" and task["index"] == 1:
        sys.exit(3)
    if answer:
        time.sleep(600)
"""


@untouched
def a_restarted_task_finds_its_head_its_keys_and_its_place_again():
    """RestartTask replaces both workers and keeps the head: Service, names, keys and TF_CONFIG stay the same.

    The plugin ray gives no container a command or a port here, so the head listens at every address of the machine's network.
    """
    need_sandboxed_pods()
    head, worker = python_task("head", HEAD), python_task("worker", WORKER, 2)
    head["policies"], worker["policies"] = [on("TaskCompleted", "CompleteJob")], [on("PodFailed", "RestartTask")]
    plugins = {"ray": ["--headContainer=none", "--workerContainer=none"], "ssh": [], "tensorflow": ["--ps=head"]}
    out = run_jobs(job("r", [head, worker], minAvailable=3, plugins=plugins), options=("--network", "shared"))
    came = re.findall(r"\[r-head-0\] (r-worker-\d is worker \d) with key (\w+)", out)
    check_equal("who came, twice\n" + out, sorted(who for who, _ in came), ["r-worker-0 is worker 0"] * 2 + ["r-worker-1 is worker 1"] * 2)
    check_equal("one key", len({key for _, key in came}), 1)
    check_in("the restart", "RestartTask after PodFailed of pod r-worker-1 with exit code 3", out)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
