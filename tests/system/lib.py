"""Shared code of the whole-program tests: running the program, waiting for conditions, checking what a test leaves behind.

A test is a script; each `case` is a function named as a sentence. main() runs them in order, prints a line for each and
ends with 1 when one failed, 77 when all were skipped. Nothing here sleeps to synchronise: wait_until polls a condition.

The test process is the reaper of its descendants (PR_SET_CHILD_SUBREAPER). Processes that the program leaves behind,
daemons included, therefore stay descendants of the test and can be counted apart from all other processes.
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
DEADLINE = 60 * SLOW  # seconds after which an operation counts as hanging

# The tests must not find a daemon or cluster that the user has configured.
os.environ.pop("KUBECONFIG", None)
os.environ["XDG_STATE_HOME"] = os.path.join(TMP, "state")

PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Skip(Exception):
    """Raised with the reason to skip the case."""


def need_one_thread():
    """Skips a case that enters a user namespace under ThreadSanitizer: the supervisor is then jobflow itself, with a second thread."""
    if os.environ.get("JOBFLOW_MODE") == "tsan":
        raise Skip("ThreadSanitizer runs a thread of its own, and only a process of one thread may enter a user namespace")


class Failure(Exception):
    """Raised with the expected and the actual value."""


def check(condition, text):
    if not isinstance(text, str):  # catches a text passed in place of the condition, which would always be true
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
    """Polls condition() until it is true and returns its value. Polls once more after the time limit, in case the test itself was delayed."""
    end = time.monotonic() + (seconds or DEADLINE)
    while True:
        late = time.monotonic() > end
        value = condition()
        if value:
            return value
        if late:
            raise Failure("waited in vain: %s%s" % (what, "".join(b.failure_output() for b in Background.all)))
        time.sleep(0.005)


def with_more_time(case):
    """Calls `case(seconds)` with growing limits until it returns True: on a slow machine a program needs more time to begin."""
    for seconds in (1, 8, 64):
        if case(seconds):
            return
        fresh_dir("again")
    raise Failure("the program never began")


def fresh_dir(name="case"):
    """Creates a new directory of this test and makes it the working directory of the case."""
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
    """Returns distinct ports that are free at every address. They lie below the kernel's range of ephemeral ports, and an abstract
    socket name reserves each of them, so neither the kernel nor another test takes one before it is used.
    """
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


def template(name, script=None, tasks=None, **spec):
    """A JobTemplate of one shell script, or of the given tasks."""
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
    """Writes the objects as a stream of JSON documents, which is valid YAML."""
    return write(path, "\n---\n".join(json.dumps(o, indent=1) for o in objects) + "\n")


def command(*args):
    return [JOBFLOW] + [str(a) for a in args]


def jobflow(*args, code=0, stdin=None, env=None, cwd=None, prefix=()):
    """Runs the program to its end. The result has stdout and stderr as text. `code` None accepts any exit code."""
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
    """Returns the result of `call` and the CPU time of the child processes that ended during it. Other load on the machine does not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = call()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return result, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Background:
    """The program running in the background, with its output in files. Killed at the end of the case if it still runs."""
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

    def failure_output(self):
        """The output of the program if it has failed."""
        return "" if self.process.poll() in (None, 0) else "\nexit code %d\n%s%s" % (self.process.returncode, self.output()[-2000:], self.errors()[-4000:])

    def output(self):
        return read(self.out_path)

    def errors(self):
        return read(self.err_path)


def on_terminal(*args, columns=80, rows=24, env=None, while_running=None):
    """Runs the program on a pseudo terminal of that size. Returns (exit code, bytes). Calls `while_running(process, output so far)` repeatedly."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = dict(os.environ, TERM="xterm-256color", LANG="C.UTF-8", LC_ALL="C.UTF-8", NO_COLOR="")
    environment.update(env or {})
    process = subprocess.Popen(command(*args), stdin=slave, stdout=slave, stderr=slave, env=environment,
                               start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(slave)
    seen, end = b"", time.monotonic() + DEADLINE * 2
    while True:  # read until no process has the terminal open: the last output may arrive after the program has ended
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
    """A small terminal emulator: the visible text after the bytes were printed. Keeps lines that scrolled off, and, as tmux does,
    those of a screen that is erased from its top left corner on."""

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
            if self.row == 0 and self.column == 0:
                self.scrolled += [line for line in self.lines if line.strip()]
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


def stat_of(pid):
    """Returns (parent, state, command) of a process, or None if it does not exist."""
    try:
        with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
    return int(rest[1]), rest[0], name


def descendants():
    """Returns {pid: command} of all live descendants of this test; reaps zombies of this process first."""
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
    """Returns the control groups named after one of these pods."""
    found = []
    for root, dirs, _ in os.walk("/sys/fs/cgroup"):
        found += [os.path.join(root, d) for d in dirs if any(u in d for u in uids)]
    return found


def nothing_left():
    """Checks that no process below this test and no mount of jobflow is left."""
    try:
        wait_until("no process is left", lambda: not descendants())
    except Failure:
        raise Failure("left behind: %s" % {p: command_line(p) for p in descendants()}) from None
    ours = [m for m in mounts() if m.startswith(TMP + "/")]
    check(not ours, "mounts left behind: %s" % ours)


def kill_rest():
    """Kills the processes that a failed case left behind, so that the next case starts clean. Affects only descendants of this process."""
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
    """Returns the cases of a test script: its public functions without parameters, in source order."""
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
        except Exception:  # an error in the test itself is a failure as well
            verdict, failed = "FAILED:\n%s" % traceback.format_exc(), failed + 1
        finally:
            kill_rest()
            os.chdir("/")
        print("%-58s %5.1fs  %s" % (name.replace("_", " "), time.monotonic() - began, verdict), flush=True)
    if failed:
        print("%d of %d failed" % (failed, ran))
        return 1
    return 77 if skipped == ran and ran else 0
