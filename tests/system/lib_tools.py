"""Finds out what this machine has of the programs that only some tests need, by using them.

A program that is installed may still lack what it needs to work: a compiler driver its headers, a server its user, an
interpreter a module, a shell its functions. Each function raises Skip with what the failed trial printed.
"""
import functools
import glob
import os
import pwd
import shutil
import subprocess

from lib import TMP, Skip

PYTHON = "/usr/bin/python3"  # the interpreter that pods of the tests and examples run
MPI_PROGRAM = "#include <mpi.h>\nint main(int argc, char **argv) { return MPI_Init(&argc, &argv) || MPI_Finalize(); }\n"


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip("%s is not installed" % program)


def need_success(what, argv, stdin=""):
    """Runs a trial of one or two seconds. Returns its output; raises Skip with the first line of its errors when it fails."""
    need(argv[0])
    done = subprocess.run(argv, input=stdin, capture_output=True, text=True, check=False, cwd=TMP, timeout=120)
    if done.returncode:
        told = (done.stderr.strip() or done.stdout.strip() or "exit code %d" % done.returncode).splitlines()
        raise Skip("%s: %s" % (what, told[-1] if "Traceback" in told[0] else told[0]))
    return done.stdout + done.stderr


def once(trial):
    """Makes a trial without arguments run once per test script. A Skip is remembered like a success."""
    @functools.lru_cache(maxsize=None)
    def outcome():
        try:
            trial()
        except Skip as reason:
            return reason
        return None

    @functools.wraps(trial)
    def again():
        if outcome():
            raise outcome()

    return again


@once
def need_open_mpi():
    """Compiles and links a program, which openmpi-bin alone cannot, and looks whether mpiexec is that of Open MPI."""
    need("mpicc", "mpiexec", "ssh", "scp")
    made = os.path.join(TMP, "mpi-trial")
    need_success("mpicc makes no program", ["mpicc", "-x", "c", "-o", made, "-"], MPI_PROGRAM)
    os.unlink(made)
    version = need_success("mpiexec does not work", ["mpiexec", "--version"])
    if "Open MPI" not in version and "OpenRTE" not in version:
        raise Skip("mpiexec is not that of Open MPI: %s" % version.splitlines()[0])


@once
def need_sshd_program():
    """sshd ends at once without its user or, started by root, without keys of the machine."""
    need("/usr/sbin/sshd", "ssh", "ssh-keygen")
    try:
        pwd.getpwnam("sshd")
    except KeyError:
        raise Skip("/usr/sbin/sshd is installed, but its user sshd does not exist") from None
    if os.geteuid() == 0 and not glob.glob("/etc/ssh/ssh_host_*_key"):
        raise Skip("/usr/sbin/sshd is installed, but the machine has no key /etc/ssh/ssh_host_*_key (ssh-keygen -A makes them)")


def need_login():
    """sshd of plain pods runs commands by the login shell of the user who runs them."""
    try:
        shell = pwd.getpwuid(os.geteuid()).pw_shell
    except KeyError:
        raise Skip("the user who runs this is not in the user database") from None
    if not shell.endswith("sh"):
        raise Skip("the user who runs this has no login shell")


def need_modules(*modules, python=PYTHON):
    need_success("%s has no module %s" % (python, " or ".join(modules)), [python, "-c", "import " + ", ".join(modules)])


@once
def need_torch():
    """PyTorch may be built without its distributed part or without gloo."""
    need_success("%s has no PyTorch with gloo" % PYTHON, [
        PYTHON, "-c", "import torch.distributed as d, torch.nn.parallel\nassert d.is_available() and d.is_gloo_available(), 'no gloo'"])


@once
def need_openssl():
    need_success("openssl makes no key", ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout"])


@once
def need_groff():
    need_success("groff renders no manual page", ["groff", "-man", "-Tutf8", "-ww"], ".TH a 1\n")


@once
def need_zsh():
    need_success("zsh has no completion functions", ["zsh", "-f", "-c", "autoload +X compinit"])


@once
def need_fish():
    """The program alone completes commands, but without its functions no options and arguments."""
    need_success("fish has no functions for completions", ["fish", "--no-config", "-c", "complete -C 'ls ' > /dev/null; __fish_seen_subcommand_from x; functions -q __fish_seen_subcommand_from"])
