"""MPI over sshd between pods in restricted settings: with mapped user ids, in a private network, with the loopback interface only.

Needs Open MPI with its headers and sshd (scripts/deps.sh --check); cases are skipped, with the reason, where they do not work.
"""
import json
import re
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_plugins import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_user import *  # noqa: E402,F403: sys.path is set above; cases use all names

EXAMPLE = os.path.join(SOURCE, "examples", "mpi.yaml")
ONLY_LOOPBACK = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


def need_mpi():
    need_sshd()
    need_open_mpi()


def need_root():
    if os.geteuid() != 0:
        raise Skip("only root can")


def check_ranks(out):
    check_equal("a rank in each worker\n" + out, sorted(re.findall(r"rank (\d) of 2 on ([\w-]+), sum 1", out)),
                [("0", "mpi-sum-worker-0"), ("1", "mpi-sum-worker-1")])


def run_as_user(env, *args, prefix=()):
    """Runs the program as an ordinary user, in a directory of that user."""
    return subprocess.run(list(prefix) + as_user() + [env["JOBFLOW"], *args], env=env, cwd=env["TMPDIR"], capture_output=True, text=True,
                          check=False, timeout=DEADLINE)


def run_mpi(*options, prefix=(), env=None):
    command_line = list(prefix) + [(env or os.environ)["JOBFLOW"], "run", "-o", "plain", "--logs", *options, EXAMPLE]
    cwd = env["TMPDIR"] if env else None
    done = subprocess.run(command_line, env=env, cwd=cwd, capture_output=True, text=True, check=False, timeout=DEADLINE)
    check_equal("exit code\n" + done.stdout + done.stderr, done.returncode, 0)
    check_ranks(done.stdout)
    nothing_left()
    return done


# covers: local-runtime.md LRT-50
def ranks_meet_with_ids_of_their_own():
    """At level full sshd is root inside its pod and an unprivileged user on the host."""
    need_root()
    need_one_thread()
    need_mpi()
    run_mpi("--isolation", "full")


# covers: local-runtime.md LRT-50
def ranks_meet_in_a_network_of_their_own():
    need_root()
    need_mpi()
    run_mpi("--network", "private")


# covers: local-runtime.md LRT-50
def ranks_of_an_ordinary_user_meet_in_a_network_of_their_own():
    """Uses port 22 without any privilege and with a single user id."""
    need_one_thread()
    need_sshd_program()
    need_open_mpi()
    need_network_of_a_user()
    run_mpi("--network", "private", prefix=as_user(), env=user_dir())


# covers: see O-P42
def an_ordinary_user_needs_no_flag_for_mpi():
    """sshd listens on port 22, so the run gives pods a network of their own, and says so."""
    need_one_thread()
    need_sshd_program()
    need_open_mpi()
    need_network_of_a_user()
    done = run_mpi(prefix=as_user(), env=user_dir())
    check_in("told", "note: %s:20: spec.plugins[mpi]: sshd of plugin mpi listens on port 22, and this user may not listen below 1024" % EXAMPLE, done.stderr)
    check_in("told", "--network shared", done.stderr)


# covers: see O-P42
def pods_of_level_user_need_no_flag_for_mpi_either():
    need_root()
    need_one_thread()
    need_mpi()
    done = run_mpi("--isolation", "user")
    check_in("told", "sshd of plugin mpi listens on port 22, and pods of level user may not listen below 1024", done.stderr)


# covers: local-runtime.md LRT-50, see O-P42
def the_program_for_plain_pods_runs_in_sandboxes_too():
    need_root()
    need_one_thread()
    need_mpi()
    for level in ("auto", "mounts", "user", "full"):
        done = jobflow("run", "-o", "plain", "--logs", "--isolation", level, os.path.join(SOURCE, "examples/mpi-plain.yaml"))
        check_equal("ranks at level %s\n%s" % (level, done.stdout), done.stdout.count(" of 2 in mpi-plain-sum-worker-"), 2)
    nothing_left()


def sshd_job(plugins):
    worker, launcher = task("worker", "exec sshd -D"), task("master", "true")
    return job("j", [worker, launcher], plugins=plugins, minAvailable=2)


# covers: see O-P42
def sshd_without_its_keys_is_told_before_the_start():
    need_root()
    manifest("j.yaml", sshd_job({"mpi": []}))
    done = jobflow("run", "--isolation", "plain", "j.yaml", code=2)
    check_in("refused", "plugin mpi listens on port 22, and at level plain it does not find the keys of its pod: --network private does not work here",
             done.stderr)
    check_in("the way out", "write a higher port and start sshd on it, as examples/mpi-plain.yaml does, or run it where pods have sandboxes", done.stderr)


# covers: see O-P42
def a_port_that_sshd_cannot_have_is_told_before_the_start():
    """A run of an ordinary user at level plain, and one that must stay in the machine's network."""
    shell = need_login_shell()
    env = user_dir()
    path = os.path.join(env["TMPDIR"], "j.yaml")
    os.chmod(manifest(path, sshd_job({"mpi": []})), 0o644)
    done = run_as_user(env, "run", "--isolation", "plain", path, prefix=shell)
    check_equal("exit code\n" + done.stderr, done.returncode, 2)
    check_in("refused", "spec.plugins[mpi]: sshd of plugin mpi listens on port 22, and this user may not listen below 1024: --network private does not work here",
             done.stderr)
    check_in("the way out", "write a higher port and start sshd on it, as examples/mpi-plain.yaml does, or run it as root", done.stderr)
    done = run_as_user(env, "run", "--isolation", "plain", "--network", "shared", path, prefix=shell)
    check_in("warned", "warning: %s:" % path, done.stderr)
    check_in("warned", "plugin mpi: sshd cannot listen on port 22", done.stderr)
    for plugins in ({"mpi": ["--port=2222"]}, {"ssh": ["--ssh-port=2222"]}, {"svc": []}):
        os.chmod(manifest(path, sshd_job(plugins)), 0o644)
        done = run_as_user(env, "run", "--isolation", "plain", "--data-dir", "d", path, prefix=shell)
        check("listen" not in done.stderr, "%s: nothing to tell\n%s" % (plugins, done.stderr))


# covers: see O-P42
def a_user_without_a_login_shell_is_told_before_the_start():
    """sshd of plain pods runs commands by the shell that the user database names, on any port and in any network."""
    need_root()
    env = user_dir()
    path = os.path.join(env["TMPDIR"], "j.yaml")
    for plugin, args in (("mpi", ["--port=2222"]), ("mpi", []), ("ssh", ["--ssh-port=2222"])):
        os.chmod(manifest(path, sshd_job({plugin: args})), 0o644)
        for options in ([], ["--network", "shared"]):
            done = run_as_user(env, "run", "--isolation", "plain", *options, path, prefix=with_a_shell("/usr/sbin/nologin"))
            check_equal("exit code\n" + done.stderr, done.returncode, 2)
            check_in("refused", "spec.plugins[%s]: sshd of plugin %s runs commands by the login shell of its user, and that of somebody is "
                     "/usr/sbin/nologin: run it as a user with a login shell, or where pods have sandboxes" % (plugin, plugin), done.stderr)
    # A job that starts no sshd may use the keys for something else.
    os.chmod(manifest(path, job("j", [task("master", "true")], plugins={"ssh": []})), 0o644)
    done = run_as_user(env, "run", "--isolation", "plain", path, prefix=with_a_shell("/bin/false"))
    check_equal("exit code without sshd\n" + done.stderr, done.returncode, 0)


# covers: see O-P42
def plain_pods_of_mpi_run_in_a_directory_with_a_space():
    need_open_mpi()
    need_sshd_program()
    shell = need_login_shell()
    env = user_dir()
    done = run_as_user(env, "run", "--isolation", "plain", "--logs", "-o", "plain", "--data-dir", "a b", os.path.join(env["JOBFLOW_SOURCE"],
                       "examples/mpi-plain.yaml"), prefix=shell)
    check_equal("ranks\n%s%s" % (done.stdout, done.stderr), done.stdout.count(" of 2 in mpi-plain-sum-worker-"), 2)


# covers: local-runtime.md LRT-51
def ranks_meet_where_only_loopback_is_up():
    need_root()
    need_mpi()
    if not can(ONLY_LOOPBACK + ["true"]):
        raise Skip("no network namespace, or no ip(8)")
    run_mpi(prefix=ONLY_LOOPBACK)


SERVER = """
import os, socket
s = socket.create_server(("0.0.0.0", 18080))
print("listening", s.getsockname()[0], flush=True)
open(os.environ["READY"], "w").close()
asked = b""
while asked != b"end":
    c, _ = s.accept()
    asked = c.recv(3)
    c.sendall(os.environ["NAME"].encode())
    c.close()
"""


def ask(ip, what):
    """Sends a request to the server at this address and returns its answer, the name of the server."""
    with socket.create_connection((ip, 18080)) as c:
        c.sendall(what)
        return c.recv(99).decode()


def server(name, cwd):
    made = python_task("server", SERVER)
    container = made["template"]["spec"]["containers"][0]
    container["ports"] = [{"containerPort": 18080}]
    container["env"] = [{"name": key, "value": value} for key, value in
                        (("NAME", name), ("READY", os.path.join(cwd, name + ".ready")))]
    return job(name, [made], minAvailable=1)


# covers: local-runtime.md LRT-04
def runs_side_by_side_keep_their_ports_apart():
    """Two data directories on one machine declare the same port."""
    cwd = os.getcwd()
    started = []
    for name in ("left", "right"):
        manifest(name + ".yaml", server(name, cwd))
        started.append(subprocess.Popen([JOBFLOW, "run", "-o", "plain", "--logs", "--data-dir", name, name + ".yaml"],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    for name in ("left", "right"):
        wait_until(name + " listens", lambda name=name: os.path.exists(name + ".ready"))
    ips = {name: json.loads(jobflow("get", "pods", "-o", "json", "--data-dir", name).stdout)["items"][0]["status"]["podIP"] for name in ("left", "right")}
    check(ips["left"] != ips["right"], "both have %s" % ips["left"])
    for name, ip in ips.items():
        check_equal("who answers at " + ip, ask(ip, b"who"), name)
    for (name, ip), run in zip(ips.items(), started):
        check_equal("who ends at " + ip, ask(ip, b"end"), name)
        out, _ = run.communicate(timeout=DEADLINE)
        check_equal(out, run.returncode, 0)
    nothing_left()


STATIC = """
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    struct addrinfo hint = {.ai_family = AF_INET}, *found;
    char text[INET_ADDRSTRLEN];
    if (getaddrinfo(argv[1], NULL, &hint, &found))
        return 1;
    puts(inet_ntop(AF_INET, &((struct sockaddr_in *)found->ai_addr)->sin_addr, text, sizeof text));
    return 0;
}
"""


# covers: local-runtime.md LRT-11
def a_static_program_finds_the_names_of_its_job():
    write("names.c", STATIC)
    if not can(["cc", "--version"]):
        raise Skip("no C compiler")
    built = subprocess.run(["cc", "-static", "-o", "names", "names.c"], capture_output=True, text=True, check=False)
    if built.returncode:
        raise Skip("no static C library: " + built.stderr.splitlines()[0])
    out = run_jobs(job("j", [task("w", "%s/names j-w-1.j" % os.getcwd(), 2)], minAvailable=2, plugins={"svc": []}))
    found = re.findall(r"\[j-w-\d\] (127\.\d+\.\d+\.\d+)\n", out)
    check_equal("both find the same address\n" + out, (len(found), len(set(found))), (2, 1))


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
