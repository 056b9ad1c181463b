"""Operations that the program must never perform: start a shell, unpack an archive, read a file that a pod has substituted for its
log, signal a process id that may have been reused, or call a function that is not async-signal-safe between clone and exec.
"""
import glob
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_plugins import *  # noqa: E402,F403: sys.path is set above; cases use all names

BANNED = set("system popen execlp execvp execvpe execl strcpy strcat sprintf vsprintf gets alloca strtok atoi atol wordexp".split())
# The functions of signal-safety(7) that the program uses, and bare system calls.
SAFE = set("""_exit access bind chdir clone close close_range connect dup2 execve fchdir fcntl getpid ioctl kill memcpy memset open prctl
pthread_sigmask setrlimit setrlimit64 setsid sigaddset sigemptyset sigfillset strchr strcspn strlen strncmp syscall umask unshare write
__errno_location __stack_chk_fail __memcpy_chk""".split())
# Files that may signal a pid, because it cannot have been reused: it is an unreaped child, or the signal is 0.
UNREAPED = {"init", "pod_shim", "capability_check", "namespaces", "reap", "exec_helper", "container", "kubeconfig_plugin", "client", "doctor", "store_dir"}


def run_tool(*words):
    need(words[0])
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def imported():
    return {line.split()[-1].split("@")[0] for line in run_tool("nm", "-D", "--undefined-only", JOBFLOW).splitlines() if line.strip()}


# covers: reliability.md SEC-22 SEC-23
def no_shell_is_called_no_archive_unpacked():
    names = imported()
    check("execve" in names, "the program has imports")
    check_equal("banned calls", sorted(names & BANNED), [])
    check_equal("readers of archives", sorted(n for n in names if re.match(r"(archive_|zip_|tar_|uncompress|unz)", n)), [])


def calls_of(function, seen):
    """Returns the library functions that a function of the program calls, directly or through other functions of the program."""
    if function in seen:
        return set()
    seen.add(function)
    text = run_tool("objdump", "-d", "--no-show-raw-insn", "--disassemble=" + function, JOBFLOW)
    found = set()
    for name in re.findall(r"(?:call|jmp) +[0-9a-f]+ <([\w.]+)(@plt)?>", text):
        if name[1]:
            found.add(name[0])
        elif name[0].split(".")[0] != function.split(".")[0]:
            found |= calls_of(name[0], seen)
    return found


# covers: reliability.md SEC-28
def a_child_calls_only_async_signal_safe_functions_before_exec():
    """Checks the child that spawn.c clones: it runs on the memory of its parent until exec."""
    if os.environ.get("JOBFLOW_MODE") not in ("dev", "release"):
        raise Skip("the sanitizer's own calls are everywhere")
    if "run_child" not in run_tool("nm", JOBFLOW):
        raise Skip("the program has no symbols")
    calls = calls_of("run_child", set())
    check("execve" in calls, "it ends in a program")
    check_equal("calls", sorted(calls - SAFE), [])


# covers: reliability.md SEC-26
def a_pid_is_signalled_only_by_code_that_owns_the_process():
    """All other files signal through a pidfd. Signal 0 is not delivered; it asks whether a process is there."""
    callers = set()
    for path in glob.glob(os.path.join(SOURCE, "*", "**", "*.c"), recursive=True):
        parts = os.path.relpath(path, SOURCE).split(os.sep)
        if parts[0] in ("base", "api", "node", "job", "flow", "probes", "template", "cli") and re.search(r"(?<![\w>.])kill\((?!\w+, 0\))", read(path)):
            callers.add(parts[-1][:-2])
    check("reap" in callers, "it is found")
    check_equal("others", sorted(callers - UNREAPED), [])


# Processes that ignore signals, in sessions of their own and reparented to init. Only a kill of the whole pod reaches them.
DEAF = "trap '' TERM HUP INT; for i in 1 2 3; do (setsid sh -c \"trap '' TERM; sleep 7219 & sleep 7219; sleep 7219\" &); done; echo begun; while :; do sleep 0.05; done"


# covers: reliability.md SEC-26
def a_deletion_ends_with_all_that_is_the_pods():
    levels = [level()] + re.search(r"--isolation can be (.*)", jobflow("doctor").stdout + "--isolation can be ").group(1).split(", ")
    if os.environ.get("JOBFLOW_MODE") == "tsan":  # need_one_thread cannot skip these levels reliably: their capability check may succeed
        levels = [one for one in levels if one not in ("user", "full")]
    for one in sorted(set(levels) - {""}):
        fresh_dir()
        daemon = Daemon("--isolation", one)
        daemon.apply(*[{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": dict({
            "restartPolicy": "Never", "containers": [{"name": "c", "command": ["sh", "-c", DEAF]}]}, **more)}
            for name, more in (("bare", {}), ("boxed", {"volumes": [{"name": "v", "emptyDir": {}}]}))])
        for name in ("bare", "boxed"):
            wait_until(name, lambda name=name: "begun" in daemon("logs", "pod/" + name, code=None).stdout)
        wait_until("all of them are there", lambda: sum(command_line(p) == "sleep 7219" for p in descendants()) == 12)
        daemon("delete", "pod", "bare", "boxed", "--grace-period=1")
        wait_until("they are gone at level " + one, lambda: not any("7219" in (command_line(p) or "") for p in descendants()))
        daemon.stop()
        nothing_left()


# covers: reliability.md SEC-22
def a_log_that_is_no_file_is_not_read():
    """The log file is replaced by a link or by a pipe without a writer."""
    daemon = Daemon()
    daemon.apply(*[{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "command": ["sh", "-c", "echo text of " + name]}]}} for name in ("linked", "piped")])
    write("outside", "#jobflow-log 1 c 0 0\n2026-01-01T00:00:00.000000000Z stdout F not for you\n")
    for name in ("linked", "piped"):
        wait_until(name, lambda name=name: daemon.get("pod/" + name)["status"].get("phase") == "Succeeded")
        check_in("before", "text of " + name, daemon("logs", "pod/" + name).stdout)
        uid = daemon.get("pod/" + name)["metadata"]["uid"]
        replaced = 0
        for path in glob.glob("data/node/logs/**", recursive=True):
            if uid in path and os.path.isfile(path):
                os.unlink(path)
                replaced += 1
                if name == "linked":
                    os.symlink(os.path.abspath("outside"), path)
                else:
                    os.mkfifo(path)
        check(replaced > 0, "there was a log")
        check("not for you" not in daemon("logs", "pod/" + name, code=None).stdout, "nothing of it is shown")
    check_equal("and no pod waits", daemon("get", "pods", "-o", "name").stdout.split(), ["pod/linked", "pod/piped"])
    daemon.stop()
    nothing_left()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
