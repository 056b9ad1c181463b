"""Does what docs/tutorial.md says, command after command, in an empty directory; the pipelines of docs/coming-from.md do the same work.

# see docs/tutorial.md, docs/coming-from.md
"""
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names


def _blocks(name):
    """The fenced blocks of a document as (language, text), in order."""
    return re.findall(r"^```(\w+)\n(.*?)^```", read(os.path.join(SOURCE, "docs", name)), re.M | re.S)


def _environment():
    """Puts a directory with the program into PATH, as the document presumes."""
    os.makedirs("../bin", exist_ok=True)
    if not os.path.exists("../bin/jobflow"):
        write("../bin/jobflow", '#!/bin/sh\nexec %s "$@"\n' % JOBFLOW)
        os.chmod("../bin/jobflow", 0o755)
    return dict(os.environ, PATH=os.path.abspath("../bin") + ":" + os.environ["PATH"])


def _pattern(line):
    """What the document shows of a line, as a regular expression: numbers, times, hexadecimal names and blanks may be others."""
    words = []
    for word in line.split():
        if re.fullmatch(r"\d[\d.:TZ-]*(ms|s)?", word):
            words.append(r"[\d.:TZ-]+(?:ms|s)?")
        else:
            parts = re.split(r"(-[0-9a-f]{10}$|\d[\d.]*)", word)
            words.append("".join("-[0-9a-f]+" if len(part) == 11 and part[0] == "-" else r"[\d.]+" if part[:1].isdigit() else re.escape(part)
                                 for part in parts))
    return r"\s+".join(words)


def _commands(block):
    """The commands of a console block, each with the lines that are shown of its output."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def _check_shown(command, shown, output):
    at = 0
    for line in shown:
        match = re.compile(_pattern(line)).search(output, at)
        if not match:
            raise Failure("%s: %r is not in what follows of:\n%s" % (command, line, output))
        at = match.end()


def _do(command, shown, daemons):
    environment = _environment()
    if command.startswith("jobflow serve"):
        daemons.append(Background(*command.replace('"$PWD"', os.getcwd()).split()[1:], name="daemon"))
        wait_until("it serves", lambda: shown[0] in daemons[0].output())
        return
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment, timeout=DEADLINE, check=False)
    output = done.stdout + done.stderr
    wanted = int((re.findall(r"# exit code (\d)", command) or ["0"])[0])
    check_equal("exit code of %s\n%s" % (command, output), done.returncode, wanted)
    _check_shown(command, shown, output)


def the_tutorial_does_what_it_says():
    daemons, commands = [], 0
    for language, text in _blocks("tutorial.md"):
        if language == "yaml":
            write(re.match(r"# (\S+)\n", text).group(1), text)
            continue
        for command, shown in _commands(text):
            _do(command, shown, daemons)
            commands += 1
    check(commands > 20 and len(daemons) == 1, "%d commands, %d daemons" % (commands, len(daemons)))
    for made in jobflow("get", "jf", "-l", "flow.volcano.sh/trigger=nightly", "-o", "jsonpath={.items[*].status.state.phase}").stdout.split():
        check_equal("the flows of the trigger", made, "Succeed")
    daemons[0].signal(2)
    check_equal("the daemon ends", daemons[0].wait(), 0)


BOOK = "the cat and the dog and the bird\n"
RUN = {"make": ["make", "-s"], "snakemake": ["snakemake", "--cores", "1", "--quiet"], "jobflow": ["jobflow", "run", "-o", "quiet", "words.yaml"]}
FILES = {"make": "Makefile", "python": "Snakefile", "yaml": "words.yaml"}


def _made_by(tool, file, text):
    """Runs the pipeline twice, the second time after all is made, and returns its report."""
    fresh_dir(tool)
    write("book.txt", BOOK)
    write(file, text)
    for _ in range(2):
        done = subprocess.run(RUN[tool], capture_output=True, text=True, env=_environment(), timeout=DEADLINE, check=False)
        check_equal("%s\n%s%s" % (tool, done.stdout, done.stderr), done.returncode, 0)
    return read("report.txt")


def the_pipelines_side_by_side_do_the_same():
    texts = {}
    for language, text in _blocks("coming-from.md"):
        texts.setdefault(language, text)
    want = _made_by("jobflow", "words.yaml", texts["yaml"])
    check_equal("report", want.split(), ["3", "the", "2", "and", "1", "dog"])
    check_equal("nothing ran", jobflow("get", "jf/words", "-o", "jsonpath={.status.stepCounts.completed}").stdout, "3")
    compared = 0
    for tool, language in (("make", "make"), ("snakemake", "python")):
        if shutil.which(tool):
            check_equal(tool, _made_by(tool, FILES[language], texts[language]), want)
            compared += 1
    if not compared:
        raise Skip("neither make nor snakemake is installed")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
