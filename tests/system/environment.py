"""Variables that a run gives to its pods.

# covers: everyday.md EVD-261 EVD-262 EVD-263 EVD-264 EVD-265 EVD-266
"""
import glob
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
import lib_serve  # noqa: E402
from lib_reuse import *  # noqa: E402,F403


def shown(*flags, script="echo \"$A,$B,$C\"", **environment):
    """What the step prints when run gets these flags and variables."""
    manifest("f.yaml", flow("f", [step("s", run=script, env=[{"name": "C", "value": "own"}])]))
    done = subprocess.run(command("run", "-o", "quiet", *flags, "f.yaml"), env=dict(os.environ, **environment), capture_output=True,
                          text=True, timeout=DEADLINE, stdin=subprocess.DEVNULL)
    check_equal("exit code: " + done.stderr, done.returncode, 0)
    return jobflow("logs", "jf/f", "s").stdout.replace("[f-s-main-0/main] ", "").rstrip("\n")


def EVD_261__flags_go_before_files_and_files_before_what_is_inherited():
    write("v.env", "# two variables\n\nA=file\n  B=file\n")
    check_equal("none", shown(A="outside"), ",,own")
    check_equal("inherited", shown("--inherit-env", A="outside", C="outside"), "outside,,own")
    check_equal("by name", shown("--env", "A", "-e", "B=2", A="outside"), "outside,2,own")
    check_equal("file", shown("--inherit-env", "--env-file", "v.env", A="outside"), "file,file,own")
    check_equal("flag", shown("--inherit-env", "--env-file", "v.env", "-e", "A=1", "-e", "A=flag", "-e", "C=flag", A="outside"), "flag,file,own")


def EVD_262__values_arrive_as_they_are():
    for value in ("a=b", "  two  words ", "'\"`", "$(B)", "$$", "one\ntwo", ""):
        got = shown("--env", "A", "--env", "B=b", script="printf '<%s>' \"$A\" > out", A=value)
        check_equal("output", got, "")
        check_equal(repr(value), read("out"), "<%s>" % value)
    write("v.env", "A=it's \"quoted\" = $B\n")
    check_equal("of a file", shown("--env-file", "v.env"), "it's \"quoted\" = $B,,own")


def EVD_263__mistakes_start_nothing():
    manifest("f.yaml", flow("f", [step("s", run="touch ran")]))
    write("bad.env", "A=1\nno name\n")
    write("nul.env", "A=1\0\nB=2\n")
    os.environ.pop("NOPE", None)
    for flags, text in ((("--env", "1A=2"), '--env: "1A=2" is not of the form NAME=VALUE or NAME'), (("-e", "NOPE"), "--env: this process has no variable NOPE: write NOPE=VALUE"),
                        (("--env-file", "none"), "--env-file: none: No such file or directory"),
                        (("--env-file", "nul.env"), "--env-file: nul.env has a NUL byte"),
                        (("--env-file", "bad.env"), 'bad.env:2: "no name" is not of the form NAME=VALUE or NAME')):
        check_in(str(flags), text, jobflow("run", *flags, "f.yaml", code=2).stderr)
    check(not os.path.exists("ran") and not os.path.exists(".jobflow"), "something was started")


def EVD_264__a_value_is_stored_nowhere():
    secret = "hunter2-4711-swordfish"
    check_equal("it arrives", shown("--env", "A", script="test ${#A} = %d || echo wrong" % len(secret), A=secret), "")
    for path in glob.glob(".jobflow/**", recursive=True):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                check(secret.encode() not in file.read(), path)
    for kind in ("jf", "vcjob", "pods", "cacheentries"):
        check(secret not in jobflow("get", kind, "-o", "json").stdout, kind)


def EVD_265__named_variables_are_part_of_the_work():
    os.mkdir("p")
    os.chdir("p")
    manifest("f.yaml", flow("f", [cached("s", "true")]))
    check_equal("first", ran("--env", "A=1"), "s")
    check_equal("the same", ran("-e", "A=1"), "")
    check_equal("another value", ran("--env", "A=2"), "s")
    check_equal("none", ran(), "s")
    os.environ["UNRELATED"] = "1"
    check_equal("inherited ones do not count", ran("--inherit-env"), "")


def EVD_265__a_plan_tells_what_a_run_with_such_variables_reuses():
    manifest("f.yaml", flow("f", [cached("s", "true")]))
    ran("--env", "A=1")
    write("v.env", "A=1\n")
    for args, then in ((("--env", "A=1"), "reused, made "), (("--env-file", "v.env"), "reused, made "), (("--env", "A=1", "--inherit-env"), "reused, made "),
                       ((), "runs: its cache key, a variable of the run,"), (("--env", "A=2"), "runs: its cache key, a variable of the run,")):
        check_in(str(args), then, jobflow("plan", *args, "f.yaml").stdout)
    check_in("a wrong one", '--env: "1A=2" is not of the form NAME=VALUE or NAME', jobflow("plan", "--env", "1A=2", "f.yaml", code=2).stderr)


def EVD_266__a_daemon_gives_no_variables_of_its_clients():
    daemon = lib_serve.Daemon(data_dir=".jobflow")
    manifest("f.yaml", flow("f", [step("s", run="true")]))
    check_in("refused", "--env, --env-file and --inherit-env are for pods of this process, and a daemon is at work in .jobflow: write env in the file",
             jobflow("run", "--env", "A=1", "f.yaml", code=2).stderr)
    daemon.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
