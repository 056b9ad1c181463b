"""Attacks from inside a pod, at every level and as root and as an ordinary user: each cell of the table in docs/limits.md is tried.

# covers: reliability.md T-2 SEC-06 SEC-16 SEC-24; see local-runtime.md 8
"""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_plugins import need_sandboxed_pods  # noqa: E402
from lib_serve import *  # noqa: E402,F403
from lib_tools import need_modules  # noqa: E402
from lib_user import ORDINARY, can, run_there  # noqa: E402

PODS = "/api/v1/namespaces/default/pods"
HEADING = "### What each level protects from whom"
COLUMNS = ["plain", "mounts", "user", "full", "confined, by root", "confined, by another user"]
SCRATCH_MIB = 16

# Makes every attempt and prints the name of each that succeeds. The names are the rows of the table.
ATTEMPTS = r"""
import ctypes, os, resource, signal, socket, struct, subprocess, sys
data, outside, victim, port, api, shm, sock, scratch_mib, host_net = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"

def readable(path):
    with open(path, "rb") as file:
        return file.read(1) or True

def created(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    os.unlink(path)
    return True

def processes():
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            try:
                with open("/proc/%s/cmdline" % pid) as file:
                    if file.read().split("\0")[:2] == ["sleep", victim]:
                        yield int(pid)
            except OSError:
                pass

def data_directory():
    return any([attempt(readable, data + "/" + name) for name in
                ("kubeconfig", "store.db", "audit.log", "access/ca.key", "access/tokens.json")]) or attempt(connected, data + "/api.sock")

def connected(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
    return True

def attempt(do, *args):
    try:
        return do(*args)
    except (OSError, ValueError):
        return None

def own_tmp():
    return any([attempt(readable, d + "/" + os.path.basename(sock)) or attempt(connected, d + "/" + os.path.basename(sock)) for d in ("/tmp", "/var/tmp")])

def signalled():
    return any([attempt(lambda: os.kill(pid, 0) is None) for pid in processes()])

PTRACE_SEIZE = 0x4206
def traced():
    child = os.fork()  # what it traces is free again when it ends
    if child == 0:
        os._exit(any([libc.ptrace(PTRACE_SEIZE, pid, None, None) == 0 for pid in processes()]))
    return os.waitpid(child, 0)[1]

def environ_read():
    return any([attempt(readable, "/proc/%d/environ" % pid) for pid in processes()])

def keyring_found():
    add, keyctl = (248, 250) if X86 else (217, 219)
    return libc.syscall(keyctl, 10, -3, b"user", b"starter", 0) >= 0

def descriptors_open():
    number = os.open("/proc/self/fd", os.O_RDONLY)  # the lowest that is free
    os.close(number)
    return [fd for fd in os.listdir("/proc/self/fd") if int(fd) > 2 and int(fd) != number]

def environment_has():
    return "JOBFLOW_TEST_CANARY" in os.environ

def too_much_in_memory():
    private = os.stat("/dev/shm").st_dev
    def fills(directory):
        if directory != "/dev/shm" and os.stat(directory).st_dev != private:
            return False
        path = directory + "/big"
        try:
            with open(path, "wb") as file:
                for _ in range(2 * int(scratch_mib)):
                    file.write(b"x" * (1 << 20))
            return True
        finally:
            os.unlink(path)
    def many(directory):
        made = []
        try:
            for i in range(40000):
                path = "%s/n%d" % (directory, i)
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
                made.append(path)
            return True
        finally:
            for path in made:
                os.unlink(path)
    return any([attempt(fills, d) for d in ("/dev/shm", "/dev", "/run", "/tmp", "/var/tmp", "/etc", "/root", "/")]) or attempt(many, "/dev/shm")

EPERM, ENOSYS = 1, 38
def not_refused():
    # (number on x86, number elsewhere, arguments that would be harmless)
    calls = {"add_key": (248, 217, b"user", b"k", b"v", 1, -2), "keyctl": (250, 219, 0, -3, 0), "request_key": (249, 218, b"user", b"k", None, 0),
             "bpf": (321, 280, 0, None, 0), "userfaultfd": (323, 282, 0), "io_uring_setup": (425, 425, 1, None), "perf_event_open": (298, 241, None, 0, -1, -1, 0),
             "open_by_handle_at": (304, 265, -1, None, 0), "unshare": (272, 97, 0x10000000), "setns": (308, 268, -1, 0), "mount": (165, 40, None, None, None, 0, None),
             "fsopen": (430, 430, None, 0), "open_tree": (428, 428, -1, None, 0), "move_mount": (429, 429, -1, None, -1, None, 0), "umount2": (166, 39, None, 0),
             "pivot_root": (155, 41, None, None), "init_module": (175, 105, None, 0, None), "finit_module": (313, 273, -1, None, 0), "kexec_load": (246, 104, 0, 0, None, 0),
             "clock_settime": (227, 112, 0, None), "settimeofday": (164, 170, None, None), "fanotify_init": (300, 262, 0, 0), "quotactl": (179, 60, 0, None, 0, None),
             "mount_setattr": (442, 442, -1, None, 0, None, 0), "kcmp": (312, 272, 0, 0, 0, 0, 0), "syslog": (103, 116, 10, None, 0)}
    open_calls = []
    for name, (x86, other, *arguments) in calls.items():
        ctypes.set_errno(0)
        got = libc.syscall(x86 if X86 else other, *arguments)
        if got >= 0 or ctypes.get_errno() != EPERM:
            open_calls.append(name)
    if not (libc.syscall(435, None, 0) < 0 and ctypes.get_errno() == ENOSYS):
        open_calls.append("clone3")
    if not (libc.syscall(600, 0) < 0 and ctypes.get_errno() == ENOSYS):
        open_calls.append("a call of the future")
    print("not refused:", *open_calls)
    return open_calls

# A program of 32 bits that ends with code 42: mov eax, 1; mov ebx, 42; int 0x80.
def runs_32_bits():
    code = bytes([0xb8, 1, 0, 0, 0, 0xbb, 42, 0, 0, 0, 0xcd, 0x80])
    base = 0x8048000
    head = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, base + 84, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    program = struct.pack("<IIIIIIII", 1, 0, base, base, 84 + len(code), 84 + len(code), 5, 4096)
    fd = os.memfd_create("small")
    os.write(fd, head + program + code)
    return subprocess.run(["/proc/self/fd/%d" % fd], pass_fds=[fd]).returncode == 42

def local_port():
    with socket.create_connection(("127.0.0.1", int(port)), timeout=10):
        return True

def ports_without_end():
    # As many as do no harm to other programs on this machine, in its range for connections.
    held = []
    try:
        if os.stat("/proc/self/ns/net").st_ino != int(host_net):
            return False
        for _ in range(500):
            held.append(socket.socket())
            held[-1].bind(("127.0.0.1", 0))
        return True
    finally:
        for one in held:
            one.close()

def no_place_left():
    # Whether a crowd of connections keeps others out is asked by the test while they are open.
    crowd = []
    for i in range(600):
        try:
            crowd.append(socket.create_connection(("127.0.0.1", int(api)), timeout=5))
        except OSError:
            break
    print("crowd", len(crowd), flush=True)
    import time
    while not os.path.exists(outside + "/asked"):
        time.sleep(0.05)
    return False

ROWS = {
    "the data directory: keys, tokens, store, socket": data_directory,
    "reading what only the daemon's user may read": lambda: attempt(readable, outside + "/secret"),
    "writing where only the daemon's user may write": lambda: attempt(created, outside + "/own/x"),
    "writing to other directories that every user may write to": lambda: attempt(created, outside + "/all/x"),
    "`/tmp` and `/var/tmp` of the host": own_tmp,
    "`/dev/shm` of the host": lambda: attempt(readable, shm),
    "seeing processes outside, and their arguments": lambda: list(processes()),
    "environment of processes outside": environ_read,
    "signals to processes outside": signalled,
    "tracing processes outside": traced,
    "keys in the session keyring of the daemon": keyring_found,
    "descriptors of the daemon and the supervisor": descriptors_open,
    "environment of the daemon": environment_has,
    "more memory for files than `--scratch-limit`": too_much_in_memory,
    "system calls that container engines refuse": not_refused,
    "programs of 32 bits": lambda: X86 and runs_32_bits(),
    "ports of this machine, without `--network private`": lambda: attempt(local_port),
    "using up the free ports of this machine, without `--network private`": lambda: attempt(ports_without_end),
    "all connections of the daemon": no_place_left,
}
for name, do in ROWS.items():
    if do():
        print("could:", name, flush=True)
print("tried", flush=True)
"""


def table():
    """The cells of the table by row and column: whether the pod is kept from it."""
    text = read(os.path.join(SOURCE, "docs/limits.md"))
    check_in("limits.md", HEADING, text)
    lines = [line for line in text[text.index(HEADING):].split("\n\n#")[0].splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    check_equal("columns", rows[0][1:], COLUMNS)
    out = {}
    for row in rows[2:]:
        check_equal("cells of " + row[0], len(row), len(COLUMNS) + 1)
        for cell in row[1:]:
            check(cell in ("kept", "open"), "%s: %s" % (row[0], cell))
        out[row[0]] = dict(zip(COLUMNS, [cell == "kept" for cell in row[1:]]))
    return out


def pod(name, command, **more):
    container = dict({"name": "c", "command": command}, **more)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"restartPolicy": "Never", "containers": [container]}}


def has_ended(daemon, name):
    """The status of the pod if it has ended."""
    found = daemon.get(PODS + "/" + name)["status"]
    return found if found.get("phase") in ("Succeeded", "Failed") else None


def ended(daemon, name):
    return wait_until(name + " has ended", lambda: has_ended(daemon, name))


def log_of(daemon, name):
    return daemon.ask("GET", PODS + "/" + name + "/log")[1]


def confine(daemon):
    change = {"metadata": {"annotations": {"jobflow.dev/confined": "true"}}}
    check_equal("marked", daemon.ask("PATCH", "/api/v1/namespaces/default", change, headers={"Content-Type": "application/merge-patch+json"})[0], 200)


def give_key():
    """Gives this process a session keyring with a key, which the daemon inherits."""
    libc = ctypes.CDLL(None, use_errno=True)
    add, keyctl = {"x86_64": (248, 250)}.get(os.uname().machine, (217, 219))
    libc.syscall(keyctl, 1, None)
    libc.syscall(add, b"user", b"starter", b"secret", 6, -3)


def outside():
    """Things that a pod has no business with; only their modes keep it out."""
    os.makedirs("outside/own", mode=0o700)
    os.mkdir("outside/all")
    os.chmod("outside/all", 0o1777)
    write("outside/secret", "secret")
    os.chmod("outside/secret", 0o600)
    os.chmod(TMP, 0o711)
    return os.path.abspath("outside")


def what_a_pod_can_do(column, *flags):
    """Runs the attempts in a pod of that column; returns the names of those that succeeded."""
    there = outside()
    give_key()
    names = "jobflow-escape-%d" % os.getpid()
    shm, sock = write("/dev/shm/" + names, "secret"), "/tmp/" + names
    victim = subprocess.Popen(["sleep", "7712"])
    listener, unix = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
    unix.bind(sock)
    unix.listen()
    write("/var/tmp/" + names, "secret")
    try:
        daemon = Daemon("--scratch-limit", "%dMi" % SCRATCH_MIB, *flags, env={"JOBFLOW_TEST_CANARY": "1"})
        if column.startswith("confined"):
            confine(daemon)
        arguments = [daemon.data_dir, there, "7712", str(listener.getsockname()[1]), str(daemon.port), shm, sock, str(SCRATCH_MIB), str(os.stat("/proc/self/ns/net").st_ino)]
        made = daemon.ask("POST", PODS, pod("attacker", ["/usr/bin/python3", "-c", ATTEMPTS] + arguments))
        check_equal("made: " + made[1], made[0], 201)
        wait_until("the crowd is there", lambda: "crowd" in log_of(daemon, "attacker") or has_ended(daemon, "attacker"))
        answer = daemon.unix(b"GET /api/v1/namespaces/default HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        check_in("the administrator's answer", "200 OK", answer)
        check_equal("over the network", daemon.ask("GET", PODS)[0], 200)
        write("outside/asked", "")
        state = ended(daemon, "attacker")
        log = log_of(daemon, "attacker")
        check("tried" in log.splitlines(), "%s: the attempts were not made to the end: %s\n%s" % (column, state, log))
        daemon.stop()
    finally:
        victim.kill()
        victim.wait()
        for path in (shm, sock, "/var/tmp/" + names):
            os.unlink(path)
    nothing_left()
    print("    %s: %s" % (column, "; ".join(line for line in log.splitlines() if line.startswith("not refused"))[:200]))
    return set(re.findall(r"^could: (.*)$", log, re.M))


def compare(column, *flags):
    rows = table()
    attempted = set(re.findall(r'^    "(.+)": ', ATTEMPTS[ATTEMPTS.index("ROWS = {"):], re.M))
    check_equal("the rows of the table", sorted(rows), sorted(attempted))
    could = what_a_pod_can_do(column, *flags)
    wrong = ["%s: limits.md says %s" % (name, "kept" if cells[column] else "open")
             for name, cells in rows.items() if (name in could) == cells[column] and not (name == "programs of 32 bits" and not cells[column])]
    check(not wrong, "at level %s:\n%s" % (column, "\n".join(wrong)))


def need_level(level):
    need_one_thread()
    need_modules("ctypes", "resource", "socket", "subprocess")  # of the programs above
    if level != "plain":
        need_sandboxed_pods()
    tried = jobflow("run", "--isolation", level, "--data-dir", "try", manifest("none.yaml", flow("f", [step("s", template="t")]), template("t")), code=None)
    if tried.returncode:
        raise Skip(tried.stderr.strip())


def need_root():
    if os.geteuid() != 0:
        raise Skip("only root has this level")


def need_ordinary():
    if os.geteuid() == 0:
        raise Skip("the next case runs this as an ordinary user")


def level_plain_is_what_the_table_says():
    need_level("plain")
    compare("plain", "--isolation", "plain")


def level_mounts_is_what_the_table_says():
    need_root()
    need_level("mounts")
    compare("mounts", "--isolation", "mounts")


def level_full_is_what_the_table_says():
    need_root()
    need_level("full")
    compare("full", "--isolation", "full")


def level_user_is_what_the_table_says():
    need_ordinary()
    need_level("user")
    compare("user", "--isolation", "user")


def a_confined_pod_is_what_the_table_says():
    need_level("full" if os.geteuid() == 0 else "user")
    compare("confined, by root" if os.geteuid() == 0 else "confined, by another user")


def levels_of_an_ordinary_user_are_what_the_table_says():
    if os.geteuid() != 0 or not can(ORDINARY + ["true"]):
        raise Skip("the other cases run as this user anyway")
    need_one_thread()
    run_there(ORDINARY, "escape.py", "level_plain", "level_user", "a_confined", "ports_used_up", "private_directories", "a_seccomp")


# Takes every port from which the kernel chooses for a connection over the loopback network, in processes that hold as many
# as they may have files each. It names each port, because the kernel's own choice becomes slow when few are free.
ALL_PORTS = r"""
import os, resource, signal, socket
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
first, last = map(int, open("/proc/sys/net/ipv4/ip_local_port_range").read().split())
ports, share = range(first, last + 1), limit - 64
for at in range(0, len(ports), share):
    report, done = os.pipe()
    if os.fork() == 0:
        held = []
        for port in ports[at : at + share]:
            held.append(socket.socket())
            try:
                held[-1].bind(("127.0.0.1", port))
            except OSError:
                held.pop()
        os.write(done, b"held")
        signal.pause()
    os.read(report, 4)
try:
    socket.create_connection(("127.0.0.1", 9), timeout=5)
except OSError as error:
    print("taken: " + os.strerror(error.errno), flush=True)
signal.pause()
"""


def ports_used_up_in_a_private_network_leave_the_daemon_reachable():
    need_level("full" if os.geteuid() == 0 else "user")
    daemon = Daemon("--network", "private", "--isolation", "full" if os.geteuid() == 0 else "user")
    check_equal("made", daemon.ask("POST", PODS, pod("taker", ["/usr/bin/python3", "-c", ALL_PORTS]))[0], 201)
    wait_until("all are taken", lambda: "taken" in log_of(daemon, "taker") or has_ended(daemon, "taker"))
    check_in("no port is left in the pod", "Cannot assign requested address", log_of(daemon, "taker"))
    check_equal("over the network", daemon.ask("GET", PODS)[0], 200)
    check_in("by the unix socket", "taker", jobflow("get", "pods", "--data-dir", daemon.data_dir).stdout)
    check_equal("deleted", daemon.ask("DELETE", PODS + "/taker?gracePeriodSeconds=0")[0], 200)
    wait_until("gone", lambda: not daemon.get(PODS)["items"])
    check_equal("made", daemon.ask("POST", PODS, pod("next", ["/usr/bin/python3", "-c", "import socket; socket.create_server(('127.0.0.1', 0)); print('free')"]))[0], 201)
    ended(daemon, "next")
    check_in("free again", "free", log_of(daemon, "next"))
    daemon.stop()
    nothing_left()


def private_directories_have_a_size_by_default():
    need_level("full" if os.geteuid() == 0 else "user")
    size = "import os; print(*[os.statvfs(d).f_blocks * os.statvfs(d).f_frsize >> 20 for d in ('/dev/shm', '/run', '/tmp', '/var/tmp')])"
    daemon = Daemon()
    confine(daemon)
    for name, limit in (("default", "1024"),):
        check_equal("made", daemon.ask("POST", PODS, pod(name, ["/usr/bin/python3", "-c", size]))[0], 201)
        ended(daemon, name)
        check_equal("MiB", log_of(daemon, name).split(), [limit] * 4)
    daemon.stop()
    nothing_left()
    refused = jobflow("serve", "--scratch-limit", "much", code=2)
    check_in("the way out", "8Gi", jobflow("help", "serve").stdout)
    check_in("the value", "much", refused.stderr)


# Prints whether unshare, asked to do nothing, is refused.
FILTERED = "import ctypes; print(int(ctypes.CDLL(None).unshare(0) != 0))"


def a_seccomp_profile_is_what_kubernetes_means_by_it():
    """Of a container, or else of its pod."""
    root = os.geteuid() == 0
    need_level("full" if root else "user")
    default, unconfined, file = {"type": "RuntimeDefault"}, {"type": "Unconfined"}, {"type": "Localhost", "localhostProfile": "p.json"}
    rows = [  # flags, confined, profile of the pod, of the container; 1: it is filtered; or the reason of its failure
        ((), False, None, None, "0"), ((), False, default, None, "1"), ((), False, None, default, "1"), ((), False, default, unconfined, "0"),
        ((), False, None, file, "UnsupportedSeccompProfile"), ((), False, file, default, "1"),
        ((), True, None, None, "1"), ((), True, None, default, "1"), ((), True, unconfined, None, "SeccompProfileForbidden"),
        (("--isolation", "full" if root else "user"), False, None, None, "1" if root else "0"),
        (("--isolation", "full" if root else "user"), False, unconfined, None, "0"),
    ]
    daemon, before = None, None
    for number, (flags, confined, of_pod, of_container, wanted) in enumerate(rows):
        if (flags, confined) != before:
            if daemon:
                daemon.stop()
            fresh_dir("profile")
            daemon, before = Daemon(*flags), (flags, confined)
            if confined:
                confine(daemon)
        body = pod("p%d" % number, ["/usr/bin/python3", "-c", FILTERED])
        body["spec"]["securityContext"] = {"seccompProfile": of_pod} if of_pod else {}
        body["spec"]["containers"][0]["securityContext"] = {"seccompProfile": of_container} if of_container else {}
        check_equal("made", daemon.ask("POST", PODS, body)[0], 201)
        status = ended(daemon, "p%d" % number)
        got = log_of(daemon, "p%d" % number).strip() if status["phase"] == "Succeeded" else status.get("reason")
        check_equal("row %d: %s" % (number, status.get("message", "")), got, wanted)
        if wanted.startswith("Unsupported"):
            check_in("its message", "use RuntimeDefault", status["message"])
    daemon.stop()
    nothing_left()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
