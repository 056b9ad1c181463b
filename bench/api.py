#!/usr/bin/env python3
"""Measures the daemon's API against its peers in one run: reads, durable writes, long lists, watches, the start of a program, idle cost.

usage: api.py [--build build/release] [--seconds S] [--only get,create,list,start,idle,watch,kube] [--kube DIR]

Peers:
- a bare HTTP server (libmicrohttpd, bench/peers/http.c);
- SQLite with one commit per row (bench/peers/rows.c);
- etcd (Debian's etcd-server; h2load sends the requests over gRPC);
- a kube-apiserver on an etcd, from the directory that --kube or KUBEBUILDER_ASSETS names (scripts/kube-assets.sh makes one).
A missing peer is named and left out. bench_load sends requests over unix sockets, except to etcd, which has none, and to
kube-apiserver: h2load measures it and the daemon next to it over HTTP/1.1 and TLS with a token.
"""
import argparse
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CM = "/api/v1/namespaces/default/configmaps"
VCJOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
JOBFLOWS = "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
TICKS = os.sysconf("SC_CLK_TCK")


def say(text):
    print(text, flush=True)


def row(what, ours, peer, ratio, wanted):
    say("| %s | %s | %s | %s | %s |" % (what, ours, peer, ratio, wanted))


def cpu_s_of(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Server:
    """A process with its CPU time and memory; it ends with the block."""

    def __init__(self, *command, ready, cwd=None):
        self.process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while not ready():
            if time.monotonic() > end or self.process.poll() is not None:
                sys.exit("%s does not start" % command[0])
            time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def cpu_s(self):
        return cpu_s_of(self.process.pid)

    def memory(self, field="VmRSS"):
        """Resident memory in bytes."""
        with open("/proc/%d/status" % self.process.pid) as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith(field + ":"))


def answers(path):
    with socket.socket(socket.AF_UNIX) as s:
        return s.connect_ex(path) == 0


def daemon(args, listen="none", *options):
    """Starts a new daemon in the current directory."""
    shutil.rmtree("data", ignore_errors=True)
    return Server(os.path.join(args.build, "jobflow"), "serve", "--data-dir", "data", "--listen", listen, *options,
                  ready=lambda: os.path.exists("data/api.sock") and answers("data/api.sock") and (listen == "none" or os.path.exists("data/kubeconfig")))


def load(args, *options, path="data/api.sock"):
    done = subprocess.run([os.path.join(args.build, "bench", "bench_load"), "--unix", path, *map(str, options)],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("bench_load %s: %s%s" % (" ".join(map(str, options)), done.stdout, done.stderr))
    return json.loads(done.stdout)


def ask(method, path, body=None):
    """Sends a request to the daemon; returns (status, document)."""
    text = json.dumps(body).encode() if body else b""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("data/api.sock")
        s.sendall(b"%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
                  % (method.encode(), path.encode(), len(text), text))
        answer = b"".join(iter(lambda: s.recv(65536), b""))
    head, _, rest = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), rest.decode()


def made(answer):
    if answer[0] != 201:
        sys.exit(answer[1])


def compiled(name, *libraries):
    """Compiles the program of a peer; returns its path, or prints the reason and returns None."""
    done = subprocess.run(["cc", "-O2", "-o", name, os.path.join(HERE, "peers", name + ".c"), *libraries], capture_output=True, check=False)
    if done.returncode:
        say("peer %s left out: it cannot be built (%s)" % (name, " ".join(libraries)))
        return None
    return os.path.abspath(name)


def written(name, value):
    with open(name, "w") as file:
        json.dump(value, file, separators=(",", ":"))
    return name


def vcjob():
    """A vcjob of about 2 KB. Its pod never starts, so that only creation and the work of the controllers are measured."""
    container = {"name": "c", "image": "busybox:1.36", "command": ["/bin/true"], "imagePullPolicy": "IfNotPresent",
                 "env": [{"name": "STAGE", "value": "extract"}, {"name": "NOTE", "value": "x" * 900}],
                 "resources": {"requests": {"cpu": "500m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "512Mi"}}}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j-@N@", "labels": {"app": "bench"}},
            "spec": {"schedulerName": "volcano", "minAvailable": 1, "queue": "default", "maxRetry": 3,
                     "policies": [{"event": "PodEvicted", "action": "RestartJob"}, {"event": "TaskCompleted", "action": "CompleteJob"}],
                     "tasks": [{"name": "t", "replicas": 1, "minAvailable": 1,
                                "template": {"metadata": {"labels": {"app": "bench"}},
                                             "spec": {"restartPolicy": "Never", "containers": [container],
                                                      "nodeSelector": {"bench/never": "there"}}}}]}}


def config_map(name="c-@N@", size=1900, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": dict(data, n=name, v="x" * size)}


def measure_get(args):
    ours, peers = [], []
    program = compiled("http", "-lmicrohttpd")
    with daemon(args):
        made(ask("POST", CM, config_map("one")))
        size = len(ask("GET", CM + "/one")[1])
        for _ in range(args.rounds):
            ours.append(load(args, "--target", CM + "/one", "--connections", 16, "--seconds", args.seconds)["perSecond"])
            if program:
                with Server(program, "http.sock", str(size), ready=lambda: os.path.exists("http.sock") and answers("http.sock")):
                    peers.append(load(args, "--connections", 16, "--seconds", args.seconds, path="http.sock")["perSecond"])
                os.unlink("http.sock")
    ratio = statistics.median(a / b for a, b in zip(ours, peers)) if peers else 0
    row("T16 GET of %d bytes, 16 connections, a second" % size, "%.0f" % statistics.median(ours),
        "bare HTTP %.0f" % statistics.median(peers) if peers else "-", "%.2f" % ratio, "≥ 0.4")


def etcd_puts(args):
    """Returns (puts per second of 64 clients with one request each, CPU per put in us), or None without etcd or h2load."""
    if not shutil.which("etcd") or not shutil.which("h2load"):
        say("peer etcd left out: etcd or h2load is not installed")
        return None
    key, value = b"bench", b"x" * 2048
    put = b"\x0a" + bytes([len(key)]) + key + b"\x12" + bytes([len(value) & 127 | 128, len(value) >> 7]) + value
    with open("put", "wb") as file:
        file.write(b"\0" + len(put).to_bytes(4, "big") + put)
    with tempfile.TemporaryDirectory(dir=".") as directory:
        ports = []
        for _ in range(2):
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                ports.append("http://127.0.0.1:%d" % s.getsockname()[1])
        with Server("etcd", "--data-dir", directory, "--listen-client-urls", ports[0], "--advertise-client-urls", ports[0],
                    "--listen-peer-urls", ports[1], "--initial-advertise-peer-urls", ports[1], "--initial-cluster", "default=" + ports[1],
                    ready=lambda: subprocess.run(["curl", "-sf", ports[0] + "/health"], capture_output=True, check=False).returncode == 0) as server:
            cpu = server.cpu_s()
            out = subprocess.run(["h2load", "-c", "64", "-m", "1", "-t", "1", "-D", str(int(args.seconds)), "-d", "put",
                                  "-H", "content-type: application/grpc", "-H", "te: trailers", ports[0] + "/etcdserverpb.KV/Put"],
                                 capture_output=True, text=True, check=True).stdout
            done = next(int(line.split("done")[0].split(",")[-1]) for line in out.splitlines() if line.startswith("requests:"))
            return done / int(args.seconds), (server.cpu_s() - cpu) * 1e6 / done


def measure_create(args):
    rows_of, program, puts, job, cm16, cm64, spent = [], compiled("rows", "-lsqlite3"), [], [], [], [], []
    job_file, cm_file = written("vcjob", vcjob()), written("cm", config_map())
    for n in range(args.rounds):
        with daemon(args):
            create = ["--method", "POST", "--seconds", args.seconds]
            job.append(load(args, *create, "--target", VCJOBS, "--body", job_file, "--connections", 16)["perSecond"])
        with daemon(args) as server:
            cm16.append(load(args, *create, "--target", CM, "--body", cm_file, "--connections", 16)["perSecond"])
            cpu = server.cpu_s()
            made = load(args, *create, "--target", CM, "--body", cm_file, "--connections", 64, "--first", 10**6)
            cm64.append(made["perSecond"])
            spent.append((server.cpu_s() - cpu) * 1e6 / made["requests"])
        if program:
            rows_of.append(float(subprocess.run([program, "rows-%d.db" % n, "2048", str(args.seconds)], capture_output=True, text=True, check=True).stdout))
        puts.append(etcd_puts(args))
    etcd_spent, puts = [each[1] for each in puts if each], [each[0] for each in puts if each]
    for what, figures, peers, peer, wanted in (
            ("T17 durable create of a 2 KB vcjob, 16 connections", job, rows_of, "SQLite, a row a commit", "≥ 0.4"),
            ("T17 durable create of a 2 KB ConfigMap, 16 connections", cm16, rows_of, "SQLite, a row a commit", "≥ 0.4"),
            ("durable create of a 2 KB ConfigMap, 64 clients", cm64, puts, "etcd put of 2 KB", "≥ 1.5")):
        row(what + ", a second", "%.0f" % statistics.median(figures), "%s %.0f" % (peer, statistics.median(peers)) if peers else "-",
            "%.2f" % statistics.median(a / b for a, b in zip(figures, peers)) if peers else "-", wanted)
    row("… CPU of the server for one of them", "%.0f us" % statistics.median(spent), "etcd %.0f us" % statistics.median(etcd_spent) if etcd_spent else "-",
        "%.2f" % (statistics.median(spent) / statistics.median(etcd_spent)) if etcd_spent else "-", "-")


class Kube:
    """kube-apiserver on its own etcd, which syncs writes to disk; it ends with the block."""

    def __init__(self, directory):
        sys.path.insert(0, os.path.join(HERE, "..", "tests", "system"))
        os.environ.update(KUBEBUILDER_ASSETS=directory, JOBFLOW=os.path.abspath("none"))
        import lib_kube  # started by the code of the system tests
        shutil.rmtree("kube", ignore_errors=True)
        self.lib, self.kube = lib_kube, lib_kube.Kube()
        self.url, self.token, self.version = "https://127.0.0.1:%d" % self.kube.port, lib_kube.TOKEN, self.kube.version

    @property
    def pid(self):
        """The pid of the API server alone; the CPU time of etcd is not counted."""
        return dict((program, process.pid) for program, process, *_ in self.kube.started)["kube-apiserver"]

    def learn_kinds(self, url, token):
        """Installs the CustomResourceDefinitions of the daemon."""
        own = self.lib.Server(int(url.rpartition(":")[2]), token, self.lib.unverified())
        self.kube.install(own.ask("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions").json["items"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kube.stop()


def over_tls(args, url, token, target, *options):
    """Returns the number of 2xx answers to 16 connections."""
    out = subprocess.run(["h2load", "--h1", "-c", "16", "-t", "1", "-D", str(int(args.seconds)), "-H", "Authorization: Bearer " + token,
                          "-H", "Content-Type: application/json", *options, url + target], capture_output=True, text=True, check=True).stdout
    codes = next(line for line in out.splitlines() if line.startswith("status codes:"))
    good = int(codes.split()[2])
    if good == 0:
        sys.exit("%s: %s" % (target, codes))
    return good


def measure_kube(args):
    """Measures the 2 KB vcjob on both servers; kube-apiserver knows only the definition of its kind."""
    directory = args.kube or os.environ.get("KUBEBUILDER_ASSETS")
    if not directory or not shutil.which("h2load"):
        say("peer kube-apiserver left out: %s" % ("h2load is not installed" if directory else "neither --kube nor KUBEBUILDER_ASSETS names its directory"))
        return
    job = vcjob()
    job["metadata"] = {"generateName": "j-", "labels": {"app": "bench"}}
    body, one = written("vcjob", job), dict(job, metadata={"name": "one"})
    ours, theirs, plain = {"get": [], "create": [], "us": []}, {"get": [], "create": [], "us": []}, []
    with daemon(args, "127.0.0.1:0") as server, Kube(directory) as kube:
        with open("data/kubeconfig") as file:
            text = file.read()
        url, token = (re.search(r"%s: (\S+)" % key, text).group(1) for key in ("server", "token"))
        kube.learn_kinds(url, token)
        made(ask("POST", VCJOBS, one))
        kube.kube.ask("POST", VCJOBS, one)
        for _ in range(args.rounds):
            plain.append(load(args, "--target", VCJOBS + "/one", "--connections", 16, "--seconds", args.seconds)["perSecond"])
            for figures, pid, *side in ((ours, server.process.pid, url, token), (theirs, kube.pid, kube.url, kube.token)):
                cpu = cpu_s_of(pid)
                got = over_tls(args, *side, VCJOBS + "/one")
                figures["us"].append((cpu_s_of(pid) - cpu) * 1e6 / got)
                figures["get"].append(got / int(args.seconds))
                figures["create"].append(over_tls(args, *side, VCJOBS, "-d", body) / int(args.seconds))
    for what, key, wanted in (("T16 GET of a vcjob, 16 connections, TLS, a second", "get", "≥ 30"),
                              ("T17 durable create of a 2 KB vcjob, 16 connections, TLS, a second", "create", "≥ 8")):
        row(what, "%.0f" % statistics.median(ours[key]), "kube-apiserver 1.%d %.0f" % (kube.version, statistics.median(theirs[key])),
            "%.1f" % statistics.median(a / b for a, b in zip(ours[key], theirs[key])), wanted)
    row("… CPU of the server for one GET over TLS", "%.1f us" % statistics.median(ours["us"]), "kube-apiserver 1.%d %.0f us" % (kube.version, statistics.median(theirs["us"])),
        "%.1f" % statistics.median(b / a for a, b in zip(ours["us"], theirs["us"])), "≥ 30")
    row("… of ours over its unix socket, without TLS; kube-apiserver has no other way", "%.0f" % statistics.median(plain), "kube-apiserver 1.%d %.0f" % (
        kube.version, statistics.median(theirs["get"])), "%.1f" % statistics.median(a / b for a, b in zip(plain, theirs["get"])), "-")


def measure_list(args):
    with daemon(args) as server:
        load(args, "--method", "POST", "--target", CM, "--body", written("cm", config_map()), "--connections", 64, "--requests", 15000)
        before, cpu = server.memory(), server.cpu_s()
        took = load(args, "--target", CM, "--requests", 5)
        row("T18 list of 15,000 objects of 2 KB (%d MB)" % (took["bytes"] / 5e6), "%.0f ms, %.0f ms CPU" % (took["p50ms"], (server.cpu_s() - cpu) * 200),
            "kube-apiserver 4,400 ms (spec)", "%.3f" % (took["p50ms"] / 4400), "≤ 0.05")
        row("T18 memory at its peak, over what the objects take", "%.0f MiB, + %.0f" % (server.memory("VmHWM") / 2**20, (server.memory("VmHWM") - before) / 2**20),
            "kube-apiserver 1,900 MB (spec)", "%.3f" % (server.memory("VmHWM") / 1.9e9), "≤ 0.1")


def measure_start(args):
    """Measures the time from the first byte of the request to the first output of the program.

    The program reports the time itself, so its own start is included.
    """
    took = []
    with daemon(args):
        template = {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "metadata": {"name": "t"},
                    "spec": {"tasks": [{"name": "m", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [
                        {"name": "c", "command": ["/bin/date", "+%s.%N"]}]}}}]}}
        made(ask("POST", JOBFLOWS.replace("jobflows", "jobtemplates"), template))
        for n in range(args.flows):
            flow = {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": {"name": "f%d" % n},
                    "spec": {"jobRetainPolicy": "retain", "flows": [{"name": "a", "jobTemplateName": "t"}]}}
            began = time.time()
            made(ask("POST", JOBFLOWS, flow))
            log, end = "", time.monotonic() + 20
            while not log.endswith("\n") and time.monotonic() < end:
                time.sleep(0.02)
                status, log = ask("GET", "/api/v1/namespaces/default/pods/f%d-a-m-0/log" % n)
                log = log if status == 200 else ""
            if not log:
                sys.exit("no word of the program: %s" % ask("GET", "/api/v1/namespaces/default/pods")[1][:2000])
            took.append((float(log) - began) * 1e3)
    took.sort()
    row("T19 submit of a flow of one step to its program's first words (`date`), median / p99", "%.1f / %.1f ms" % (took[len(took) // 2], took[len(took) * 99 // 100]),
        "-", "-", "3 / 15 ms")


def measure_idle(args):
    flow = {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": {"name": "f-@N@"},
            "spec": {"flows": [{"name": "a", "jobTemplateName": "none"}, {"name": "b", "jobTemplateName": "none", "dependsOn": {"targets": ["a"]}}]}}
    with daemon(args, "127.0.0.1:0") as server:
        empty = server.memory()
        load(args, "--method", "POST", "--target", JOBFLOWS, "--body", written("flow", flow), "--connections", 16, "--requests", 1000)
        time.sleep(6)  # the daemon becomes idle
        cpu = server.cpu_s()
        time.sleep(args.idle)
        row("T21 1,000 flows that wait, with a TLS listener: CPU", "%.3f %%" % ((server.cpu_s() - cpu) / args.idle * 100), "-", "-", "≤ 0.1 %")
        row("T21 … resident (own pages alone; without flows)", "%.1f MiB (%.1f; %.1f)" % (server.memory() / 2**20, server.memory("RssAnon") / 2**20, empty / 2**20),
            "-", "-", "≤ 16 MiB")


def measure_watch(args):
    """Measures each round with a new daemon.

    Delays count from the due time of a change, so waiting for a free connection is included: a stall of the disk
    delays everything due meanwhile.
    """
    rounds = []
    for _ in range(args.rounds):
        with daemon(args, "none", "--max-connections", "2000") as server:  # 1,000 watchers and 64 writers
            made(ask("POST", CM, config_map("one")))
            before = server.memory()
            revision = json.loads(ask("GET", CM)[1])["metadata"]["resourceVersion"]
            cpu = server.cpu_s()
            seen = load(args, "--method", "POST", "--target", CM, "--body", written("cm", config_map(size=100, t="@N@")), "--connections", 64,
                        "--seconds", args.seconds, "--rate", args.rate, "--watchers", 1000, "--watch", "%s?watch=1&resourceVersion=%s" % (CM, revision))
            if seen["events"] != seen["wanted"]:
                sys.exit("%d events of %d came" % (seen["events"], seen["wanted"]))
            seen.update(server=(server.cpu_s() - cpu) * 1e6 / seen["events"], client=seen["cpuSeconds"] * 1e6 / seen["events"],
                        kib=(server.memory() - before) / 1000 / 1024)
            rounds.append(seen)
    what = "1,000 watchers, %.0f changes a second (of %d wanted)" % (statistics.median(each["perSecond"] for each in rounds), args.rate)
    for since, wanted in (("sinceAcknowledged", "p99 ≤ 50 ms"), ("sinceSent", "-"), ("sinceDue", "-")):
        row("%s: delivery since it was %s, median / p99 / longest of %d rounds" % (what, since[5:].lower(), args.rounds), ", ".join(
            "%.0f / %.0f / %.0f" % tuple(each[since][p] for p in ("p50ms", "p99ms", "p100ms")) for each in rounds) + " ms", "-", "-", wanted)
        what = "…"
    row("… the change itself: due to acknowledged, median / p99", ", ".join("%.0f / %.0f" % (each["p50ms"], each["p99ms"]) for each in rounds) + " ms", "-", "-", "-")
    row("… CPU of an event, server and client", ", ".join("%.2f, %.2f" % (each["server"], each["client"]) for each in rounds) + " us", "-", "-", "-")
    row("… memory of each", "%.1f KiB" % max(each["kib"] for each in rounds), "-", "-", "≤ 20 KiB")


MEASURES = {"get": measure_get, "create": measure_create, "list": measure_list, "start": measure_start, "idle": measure_idle, "watch": measure_watch, "kube": measure_kube}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build", "release"))
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--flows", type=int, default=100)
    parser.add_argument("--idle", type=float, default=20)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--kube", help="directory of kube-apiserver and etcd")
    parser.add_argument("--only", default=",".join(MEASURES))
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    args.kube = args.kube and os.path.abspath(args.kube)
    say("%d cores, load %.1f when it began\n\n| what | jobflow | peer | ratio | wanted |\n|---|--:|--:|--:|---|" % (os.cpu_count(), os.getloadavg()[0]))
    with tempfile.TemporaryDirectory(prefix="jobflow-bench-") as directory:
        os.chdir(directory)
        for name in args.only.split(","):
            MEASURES[name](args)
        os.chdir("/")


if __name__ == "__main__":
    main()
