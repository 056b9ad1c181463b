"""Help, completion and manual pages come from one table: they name the same commands and flags, and each shell accepts its completion script."""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_tools import *  # noqa: E402,F403: sys.path is set above; cases use all names


def command_names():
    return re.findall(r"^  ([a-z][a-z-]*) {2,}\S", jobflow("help").stdout.split("Commands:")[1], re.M)


def flags_of(name):
    return re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", jobflow("help", name).stdout, re.M)


def the_overview_names_every_command_in_one_line():
    out = jobflow("help").stdout
    for name in ("run", "validate", "get", "describe", "logs", "delete", "apply", "version", "help", "completion"):
        check(name in command_names(), "no %s in the overview:\n%s" % (name, out))
    for text in [out] + [jobflow("help", name).stdout.split("Examples:")[0] for name in command_names()]:
        for line in text.splitlines():
            check(len(line) <= 100, "a line of %d columns: %s" % (len(line), line))


def help_has_three_spellings():
    for name in command_names():
        texts = {jobflow(*args).stdout for args in ((name, "--help"), (name, "-h"), ("help", name))}
        check_equal("different texts about %s" % name, len(texts), 1)
        check_in(name, "Usage: jobflow %s" % name, texts.pop())
    check_equal("overview", jobflow("--help").stdout, jobflow("help").stdout)
    check_equal("overview", jobflow("-h").stdout, jobflow("help").stdout)
    check_equal("version", jobflow("--version").stdout, jobflow("version").stdout)
    check(re.match(r"jobflow \d+\.\d+\.\d+", jobflow("version").stdout), "no version")


def without_a_command_the_overview_is_an_error():
    run = jobflow(code=2)
    check_equal("stdout", run.stdout, "")
    check_in("stderr", "Usage: jobflow COMMAND", run.stderr)


def help_about_an_unknown_command_is_an_error():
    run = jobflow("help", "rnu", code=2)
    check_in("stderr", 'no command "rnu"; did you mean "run"?', run.stderr)
    for word, meant in (("list", "get"), ("status", "describe"), ("ps", "get pods"), ("stop", "abort"), ("lint", "validate"), ("LS", "get")):
        check_in("stderr", 'no command "%s"; did you mean "%s"?' % (word, meant), jobflow(word, code=2).stderr)
        check_in("commands", meant.split()[0], command_names())
    check_in("stderr", 'no command "xyzzy"\n', jobflow("xyzzy", code=2).stderr)
    run = jobflow("run", "--timout", "5s", "f.yaml", code=2)
    check_in("stderr", '--timout: no such flag; did you mean "--timeout"?', run.stderr)
    check_in("stderr", "jobflow run --help", run.stderr)


def a_bad_value_is_reported_under_the_flag_that_was_typed():
    for words, flag in ((("-j", "x"), "-j"), (("-jx",), "-j"), (("--max-pods", "x"), "--max-pods"), (("--max-pods=x",), "--max-pods")):
        check_in("stderr of %s" % (words,), 'error: %s: "x" is not a whole number' % flag, jobflow("run", *words, "f.yaml", code=2).stderr)


def the_flags_of_the_contract_are_there():
    flags = flags_of("run")
    for flag in ("--max-pods", "--logs", "--output", "--timeout", "--keep-going", "--retry-failed", "--runtime", "--data-dir", "--fresh"):
        check(flag in flags, "run has no %s: %s" % (flag, flags))
    out = jobflow("help", "run").stdout
    for code in ("0 every flow Succeed", "1 a flow or job failed", "2 the input was refused", "4 timed out", "130 interrupted"):
        check_in("exit codes", code, out)


DRIVER = r"""
source <("$JOBFLOW" completion bash)
complete_line() { # words: what has been typed; the last is being completed
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
    _jobflow
    printf '%s\n' "${COMPREPLY[@]}"
}
complete_line "$@"
"""


def complete(*words):
    done = subprocess.run(["bash", "-c", DRIVER, "bash"] + list(words), capture_output=True, text=True, timeout=DEADLINE, check=False)
    check_equal("stderr of %s" % (words,), done.stderr, "")
    return [w.strip() for w in done.stdout.splitlines() if w.strip()]


def bash_completes_commands_flags_choices_and_files():
    check_equal("all commands", sorted(complete("jobflow", "")), sorted(command_names()))
    check_equal("one command", complete("jobflow", "val"), ["validate"])
    check_equal("commands after help", complete("jobflow", "help", "compl"), ["completion"])
    for name in command_names():
        check_equal("flags of %s" % name, sorted(complete("jobflow", name, "--")), sorted(set(flags_of(name) + ["--help"])))
    check_equal("one flag", complete("jobflow", "run", "--max-p"), ["--max-pods"])
    check_equal("choices", complete("jobflow", "run", "--output", ""), ["auto", "live", "plain", "json", "quiet"])
    check_equal("choices of a letter", complete("jobflow", "run", "-o", "j"), ["json"])
    write("flow one.yaml", "")
    write("other.yaml", "")
    os.mkdir("dir")
    check_equal("files", sorted(complete("jobflow", "run", "")), ["dir", "flow one.yaml", "other.yaml"])
    check_equal("a file after a flag with a value", complete("jobflow", "run", "-j", "4", "oth"), ["other.yaml"])
    check("jf" in complete("jobflow", "get", "") and "vcjob" in complete("jobflow", "describe", ""), "no kinds")
    manifest("f.yaml", flow("first", [step("a")]), flow("second", [step("b", template="a"), step("call", template="a")]), template("a"))
    jobflow("run", "f.yaml")
    os.environ["PATH"] = os.path.dirname(JOBFLOW) + ":" + os.environ["PATH"]
    check_equal("names", complete("jobflow", "describe", "jf/"), ["jf/first", "jf/second"])
    check_equal("a name", complete("jobflow", "logs", "jf/s"), ["jf/second"])
    check_equal("a flow to explain", complete("jobflow", "explain", "jf/f"), ["jf/first"])
    check_equal("its steps", complete("jobflow", "explain", "jf/second", ""), ["b", "call"])
    check_equal("a step", complete("jobflow", "explain", "jf/second", "--all", "c"), ["call"])
    for command in ("logs", "retry"):
        check_equal("steps of " + command, complete("jobflow", command, "jf/second", ""), ["b", "call"])
    check_equal("shells", sorted(complete("jobflow", "completion", "")), ["bash", "fish", "zsh"])


def bash_loads_the_completion():
    script = 'set -euo pipefail; source <("$JOBFLOW" completion bash); complete -p jobflow'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=DEADLINE, check=False)
    check_equal("exit code\n" + done.stderr, done.returncode, 0)
    check_in("complete -p", "_jobflow", done.stdout)


def zsh_completes_too():
    need_zsh()
    script = 'autoload -U compinit && compinit -u -d "$TMPDIR/zcompdump"; source <("$JOBFLOW" completion zsh); whence -w _jobflow; echo $_comps[jobflow]'
    done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, timeout=DEADLINE, check=False)
    check_equal("stderr", done.stderr, "")
    check_equal("stdout", done.stdout, "_jobflow: function\n_jobflow\n")
    manifest("f.yaml", flow("f", [step("b", template="a"), step("call", template="a")]), template("a"))
    jobflow("run", "f.yaml")
    script = """compdef() { :; }; compadd() { shift; print -l -- "$@"; }; _files() { :; }
                source <("$JOBFLOW" completion zsh); words=(jobflow explain jf/f ""); CURRENT=4; _jobflow"""
    done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, timeout=DEADLINE, check=False,
                          env=dict(os.environ, PATH=os.path.dirname(JOBFLOW) + ":" + os.environ["PATH"]))
    check_equal("steps", (done.stdout, done.stderr), ("b\ncall\n", ""))


def fish_completes_commands_flags_choices_and_files():
    need_fish()

    def fish(line):
        script = '%s completion fish | source; complete -C %s' % (JOBFLOW, json.dumps(line))
        done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, timeout=DEADLINE, check=False,
                              env=dict(os.environ, HOME=os.getcwd()))
        check_equal("stderr", done.stderr, "")
        return [candidate.split("\t")[0] for candidate in done.stdout.splitlines()]

    manifest("f.yaml", flow("f", [step("b", template="a"), step("call", template="a")]), template("a"))
    jobflow("run", "f.yaml")
    os.environ["PATH"] = os.path.dirname(JOBFLOW) + ":" + os.environ["PATH"]
    check_equal("steps", fish("jobflow explain jf/f "), ["b", "call"])
    write("flow.yaml", "")
    check_in("commands", "validate", fish("jobflow val"))
    check_in("flags", "--max-pods", fish("jobflow run --max"))
    check_equal("choices", fish("jobflow run --output pl"), ["plain"])
    check_equal("files", fish("jobflow run flow"), ["flow.yaml"])
    check_in("commands after help", "completion", fish("jobflow help comp"))
    check_in("kinds", "jf", fish("jobflow get j"))


def a_shell_without_completion_is_refused():
    check_in("stderr", "fish", jobflow("completion", "tcsh", code=2).stderr)
    jobflow("completion", code=2)


def rendered(*words):
    """Returns a manual page as text; groff must render it without warnings."""
    write("page.1", jobflow("help", "man", *words).stdout)
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-rLL=100n", "page.1"], capture_output=True, timeout=DEADLINE, check=False)
    check_equal("warnings", done.stderr.decode(), "")
    return re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout.decode())


def manual_pages_render_without_a_warning():
    need_groff()
    text = rendered()
    for part in ("NAME", "SYNOPSIS", "EXIT STATUS", "130"):
        check_in("the page", part, text)
    for name in command_names():
        check_in("the page", name, text)
        page = rendered(name)
        check_in("the page of %s" % name, "jobflow-%s" % name, page.replace("\u2010", "-"))
        for flag in flags_of(name):
            check_in("the page of %s" % name, flag, page)


def a_manual_page_of_no_command_is_refused():
    check_in("stderr", "validate", jobflow("help", "man", "validat", code=2).stderr)
    check_in("stderr", "get", jobflow("help", "run", "get", code=2).stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
