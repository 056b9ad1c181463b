"""What the whole-program tests share: running the program, waiting for conditions, looking for what is left behind.

A test is a script; each `case` is a function named as a sentence. main() runs them in order, prints a line for each and
ends with 1 when one failed, 77 when all were skipped. Nothing here sleeps to synchronise: wait_until polls a condition.

The test process is the reaper of its descendants (PR_SET_CHILD_SUBREAPER), so whatever the program leaves behind,
daemonised or not, is still below it and can be counted without looking at anybody else's processes.
"""
import contextlib
import ctypes
import errno
import fcntl
import json
import os
import pty
import random
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
import traceback

JOBFLOW = os.environ.get("JOBFLOW") or sys.exit("JOBFLOW must name the program")
SOURCE = os.environ.get("JOBFLOW_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TMP = os.environ.get("TMPDIR", "/tmp")
SLOW = 5 if os.environ.get("JOBFLOW_MODE") in ("asan", "tsan", "cov") else 1
DEADLINE = 60 * SLOW  # seconds that anything may take before it counts as hanging

# Nobody's own daemon or cluster is to be found.
os.environ.pop("KUBECONFIG", None)
os.environ["XDG_STATE_HOME"] = os.path.join(TMP, "state")

PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Skip(Exception):
    """Raised with the reason."""


def need_one_thread():
    """For whatever enters a user namespace: under sanitizers the supervisor of a pod is jobflow itself."""
    if os.environ.get("JOBFLOW_MODE") == "tsan":
        raise Skip("ThreadSanitizer runs a thread of its own, and only a process of one thread may enter a user namespace")


class Failure(Exception):
    """Raised with what was expected and what was seen."""


def check(condition, text):
    if not isinstance(text, str):  # a text in the place of the condition is always true
        raise TypeError("check takes the condition first, and then what was expected")
    if not condition:
        raise Failure(text)


def check_equal(what, got, wanted):
    if got != wanted:
        raise Failure("%s: got %r, wanted %r" % (what, got, wanted))


def check_in(what, part, whole):
    if part not in whole:
        raise Failure("%s: no %r in:\n%s" % (what, part, whole))


def wait_until(what, condition, seconds=None):
    """Poll until condition() is true and return its value. It is looked at once more after the time is up: who comes late may be us."""
    end = time.monotonic() + (seconds or DEADLINE)
    while True:
        late = time.monotonic() > end
        value = condition()
        if value:
            return value
        if late:
            raise Failure("waited in vain: %s%s" % (what, "".join(b.last_words() for b in Background.all)))
        time.sleep(0.005)


def with_more_time(case):
    """`case(seconds)` gives a program so long, and says whether that was enough for it to begin: on a slow machine it is given more."""
    for seconds in (1, 8, 64):
        if case(seconds):
            return
        fresh_dir("again")
    raise Failure("the program never began")


def fresh_dir(name="case"):
    """A new directory of this test; the case's working directory."""
    path = os.path.join(TMP, name)
    n = 0
    while os.path.exists(path):
        n += 1
        path = os.path.join(TMP, "%s-%d" % (name, n))
    os.mkdir(path)
    os.chdir(path)
    return path


def write(path, text):
    with open(path, "wb" if isinstance(text, bytes) else "w") as out:
        out.write(text)
    return path


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


_reserved = []  # held until this process ends


def free_ports(count):
    """Ports nobody listens on, of any address; all different. Nobody is given them before they are used: they lie below those that the kernel
    chooses from, and what keeps other tests from choosing them is a name they reserve first."""
    ports = []
    while len(ports) < count:
        port = random.SystemRandom().randrange(10000, 30000)
        name = socket.socket(socket.AF_UNIX)
        with socket.socket() as probe:
            try:
                name.bind("\0jobflow-test-port-%d" % port)
                probe.bind(("", port))
            except OSError:
                name.close()
                continue
        _reserved.append(name)
        ports.append(port)
    return ports


# ---- manifests ----

def template(name, script=None, tasks=None, **spec):
    """A JobTemplate of one shell script, or of the tasks given."""
    tasks = tasks or [task("main", script or "true")]
    return {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "metadata": {"name": name},
            "spec": dict({"tasks": tasks}, **spec)}


def task(name, script, replicas=1, **pod):
    container = {"name": "c", "command": ["sh", "-c", script]}
    return {"name": name, "replicas": replicas,
            "template": {"spec": dict({"restartPolicy": "Never", "containers": [container]}, **pod)}}


def flow(name, steps, **spec):
    return {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": {"name": name},
            "spec": dict({"flows": steps}, **spec)}


def step(name, after=(), template=None, script=None, **rest):
    entry = dict({"name": name}, **rest)
    if template:
        entry["jobTemplateName"] = template
    if after:
        entry["dependsOn"] = {"targets": list(after)}
    if script:
        entry["patch"] = {"spec": {"tasks": [{"name": "main", "template": {"spec": {"containers": [
            {"name": "c", "command": ["sh", "-c", script]}]}}}]}}
    return entry


def manifest(path, *objects):
    """Write the objects as JSON documents of one stream (JSON is YAML)."""
    return write(path, "\n---\n".join(json.dumps(o, indent=1) for o in objects) + "\n")


# ---- running ----

def command(*args):
    return [JOBFLOW] + [str(a) for a in args]


def jobflow(*args, code=0, stdin=None, env=None, cwd=None, prefix=()):
    """Run to the end; the result has stdout and stderr as text. `code` None accepts any exit code."""
    done = subprocess.run(list(prefix) + command(*args), input=stdin, capture_output=True, cwd=cwd,
                          env=dict(os.environ, **(env or {})), timeout=DEADLINE * 2,
                          stdin=subprocess.DEVNULL if stdin is None else None)
    done.stdout = done.stdout.decode("utf-8", "replace")
    done.stderr = done.stderr.decode("utf-8", "replace")
    if code is not None and done.returncode != code:
        raise Failure("jobflow %s: exit code %d, wanted %d\n%s%s"
                      % (" ".join(map(str, args)), done.returncode, code, done.stdout[-3000:], done.stderr[-3000:]))
    return done


def cost_of(call):
    """What `call` returns, and the processor's time of the programs that have ended in it: what else the machine does is not in it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = call()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return result, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Background:
    """The program at work, its output in files. Killed at the end of the case if it still runs."""
    all = []

    def __init__(self, *args, env=None, name="out", prefix=()):
        self.out_path, self.err_path = os.path.abspath(name + ".stdout"), os.path.abspath(name + ".stderr")
        with open(self.out_path, "ab") as out, open(self.err_path, "ab") as err:
            self.process = subprocess.Popen(list(prefix) + command(*args), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                            env=dict(os.environ, **(env or {})))
        self.pid = self.process.pid
        Background.all.append(self)

    def signal(self, number):
        self.process.send_signal(number)

    def running(self):
        return self.process.poll() is None

    def wait(self, seconds=None):
        try:
            return self.process.wait(seconds or DEADLINE)
        except subprocess.TimeoutExpired:
            raise Failure("still running after %s s\n%s%s"
                          % (seconds or DEADLINE, self.output()[-2000:], self.errors()[-2000:])) from None

    def last_words(self):
        """Why it has failed, if it has."""
        return "" if self.process.poll() in (None, 0) else "\nexit code %d\n%s%s" % (self.process.returncode, self.output()[-2000:], self.errors()[-4000:])

    def output(self):
        return read(self.out_path)

    def errors(self):
        return read(self.err_path)


def on_terminal(*args, columns=80, rows=24, env=None, while_running=None):
    """Run on a pseudo terminal of that size. Returns (exit code, bytes). `while_running(process, output so far)` is
    called again and again."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = dict(os.environ, TERM="xterm-256color", LANG="C.UTF-8", LC_ALL="C.UTF-8", NO_COLOR="")
    environment.update(env or {})
    process = subprocess.Popen(command(*args), stdin=slave, stdout=slave, stderr=slave, env=environment,
                               start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(slave)
    seen, end = b"", time.monotonic() + DEADLINE * 2
    while True: # until nobody has the terminal any more: what was printed last may come after the end of who printed it
        ready, _, _ = select.select([master], [], [], 0.02)
        if ready:
            try:
                part = os.read(master, 65536)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                break
            seen += part
        if while_running and process.poll() is None:
            while_running(process, seen)
        if time.monotonic() > end:
            process.kill()
            raise Failure("hangs on a terminal: %r" % seen[-500:])
    os.close(master)
    return process.wait(), seen


class Screen:
    """A small terminal: what a person sees after the bytes were printed. Lines that scrolled off are kept."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.scrolled, self.lines = [], [""] * rows
        self.row = self.column = 0
        self.cursor_visible, self.wraps, self.unknown = True, 0, []

    def feed(self, data):
        text, i = data.decode("utf-8", "replace"), 0
        while i < len(text):
            c = text[i]
            if c == "\x1b" and text[i + 1:i + 2] == "[":
                j = i + 2
                while j < len(text) and not text[j].isalpha():
                    j += 1
                self.control(text[i + 2:j], text[j:j + 1])
                i = j + 1
                continue
            if c == "\n":
                self.down()
            elif c == "\r":
                self.column = 0
            elif c >= " ":
                self.put(c)
            else:
                self.unknown.append(c)
            i += 1
        return self

    def put(self, c):
        if self.column >= self.columns:
            self.wraps += 1
            self.column = 0
            self.down()
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[:self.column] + c + line[self.column + 1:]
        self.column += 1

    def down(self):
        if self.row == self.rows - 1:
            self.scrolled.append(self.lines.pop(0))
            self.lines.append("")
        else:
            self.row += 1

    def control(self, arguments, letter):
        n = int(arguments) if arguments.isdigit() else 1
        if letter == "A":
            self.row = max(0, self.row - n)
        elif letter == "J":
            self.lines[self.row] = self.lines[self.row][:self.column]
            for r in range(self.row + 1, self.rows):
                self.lines[r] = ""
        elif letter == "K":
            self.lines[self.row] = self.lines[self.row][:self.column]
        elif letter in "hl" and arguments == "?25":
            self.cursor_visible = letter == "h"
        elif letter not in ("m", "h", "l"):
            self.unknown.append(arguments + letter)

    def text(self):
        lines = [line.rstrip() for line in self.scrolled + self.lines]
        while lines and not lines[-1]:
            lines.pop()
        return "\n".join(lines)


# ---- what is left ----

def stat_of(pid):
    """(parent, state, command) of a process, None when it is gone."""
    try:
        with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
    return int(rest[1]), rest[0], name


def descendants():
    """{pid: command} of everything alive below this test; zombies of ours are reaped first."""
    mine = {b.pid for b in Background.all if b.process.returncode is None}
    parents = {int(p): stat_of(p) for p in os.listdir("/proc") if p.isdigit()}
    for pid, stat in parents.items():
        if stat and stat[0] == os.getpid() and stat[1] == "Z" and pid not in mine:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
    found, more = {}, True
    while more:
        more = False
        for pid, stat in parents.items():
            if stat and pid not in found and stat[1] not in "ZX" and (stat[0] == os.getpid() or stat[0] in found):
                found[pid] = stat[2]
                more = True
    return found


def command_line(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            return file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except (FileNotFoundError, ProcessLookupError):
        return "(gone)"


def mounts():
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        return [line.split()[4] for line in file]


def control_groups(uids):
    """Control groups named after one of these pods."""
    found = []
    for root, dirs, _ in os.walk("/sys/fs/cgroup"):
        found += [os.path.join(root, d) for d in dirs if any(u in d for u in uids)]
    return found


def nothing_left():
    """No process below this test, no mount of ours."""
    try:
        wait_until("no process is left", lambda: not descendants())
    except Failure:
        raise Failure("left behind: %s" % {p: command_line(p) for p in descendants()}) from None
    ours = [m for m in mounts() if m.startswith(TMP + "/")]
    check(not ours, "mounts left behind: %s" % ours)


# ---- the test itself ----

def kill_rest():
    """End what a failed case left, so that the next one starts clean. Only processes below this one."""
    for background in Background.all:
        if background.running():
            background.process.kill()
            background.process.wait()
    Background.all.clear()
    for _ in range(100):
        left = descendants()
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def cases_of(names):
    """The functions of a test script that are sentences: public, without parameters, in the order they are written."""
    mine = [f for n, f in names.items() if callable(f) and getattr(f, "__module__", "") == "__main__"
            and not n.startswith("_") and hasattr(f, "__code__") and f.__code__.co_argcount == 0 and n.count("_") >= 2]
    return sorted(mine, key=lambda f: f.__code__.co_firstlineno)


def main(*cases):
    wanted = sys.argv[1:]
    failed = skipped = ran = 0
    for case in cases:
        name = case.__name__
        if wanted and not any(w in name for w in wanted):
            continue
        began, ran = time.monotonic(), ran + 1
        try:
            fresh_dir(name[:24])
            case()
            verdict = "ok"
        except Skip as reason:
            verdict, skipped = "skipped: %s" % reason, skipped + 1
        except Failure as failure:
            verdict, failed = "FAILED: %s" % failure, failed + 1
        except Exception:  # a defect of the test itself is a failure, too
            verdict, failed = "FAILED:\n%s" % traceback.format_exc(), failed + 1
        finally:
            kill_rest()
            os.chdir("/")
        print("%-58s %5.1fs  %s" % (name.replace("_", " "), time.monotonic() - began, verdict), flush=True)
    if failed:
        print("%d of %d failed" % (failed, ran))
        return 1
    return 77 if skipped == ran and ran else 0
