"""MPI over sshd between pods where that is hard: ids that are not the host's, a network of their own, nothing but loopback.

Needs openmpi-bin and openssh-server (scripts/deps.sh --extras); skipped with what is missing.
"""
import re
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_plugins import *  # noqa: E402,F403
from lib_user import *  # noqa: E402,F403

EXAMPLE = os.path.join(SOURCE, "examples", "mpi.yaml")
ONLY_LOOPBACK = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


def need_mpi():
    need_sshd()
    need("mpicc", "mpiexec", "scp")


def need_root():
    if os.geteuid() != 0:
        raise Skip("only root can")


def check_ranks(out):
    check_equal("a rank in each worker\n" + out, sorted(re.findall(r"rank (\d) of 2 on ([\w-]+), sum 1", out)),
                [("0", "mpi-sum-worker-0"), ("1", "mpi-sum-worker-1")])


def run_mpi(*options, prefix=(), env=None):
    command_line = list(prefix) + [(env or os.environ)["JOBFLOW"], "run", "-o", "plain", "--logs", *options, EXAMPLE]
    cwd = env["TMPDIR"] if env else None
    done = subprocess.run(command_line, env=env, cwd=cwd, capture_output=True, text=True, check=False, timeout=DEADLINE)
    check_equal("exit code\n" + done.stdout + done.stderr, done.returncode, 0)
    check_ranks(done.stdout)
    nothing_left()


# covers: local-runtime.md LRT-50
def ranks_meet_with_ids_of_their_own():
    """Level full: sshd is root of its pod and nobody on the host."""
    need_root()
    need_mpi()
    run_mpi("--isolation", "full")


# covers: local-runtime.md LRT-50
def ranks_meet_in_a_network_of_their_own():
    need_root()
    need_mpi()
    run_mpi("--network", "private")


# covers: local-runtime.md LRT-50
def ranks_of_an_ordinary_user_meet_in_a_network_of_their_own():
    """Port 22, without any privilege and with a single id."""
    need_mpi()
    env = place()
    if not can(as_user() + ["unshare", "--user", "--map-root-user", "--net", "ip", "link", "add", "b", "type", "bridge"]):
        raise Skip("an ordinary user cannot have a network of his own here")
    run_mpi("--network", "private", prefix=as_user(), env=env)


# covers: local-runtime.md LRT-51
def ranks_meet_where_only_loopback_is_up():
    need_root()
    need_mpi()
    if not can(ONLY_LOOPBACK + ["true"]):
        raise Skip("no network namespace, or no ip(8)")
    run_mpi(prefix=ONLY_LOOPBACK)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
