"""Flows whose steps may be reused: making them, running them, and telling which steps have run."""
import json
import os
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403

LOG = "../ran"  # outside of the working directory, so that it is no file that a command names


def cached(name, text, after=(), **rest):
    """A step that may be reused. It writes its name into the log when it runs."""
    rest.setdefault("cache", {})
    if rest["cache"] is None:
        del rest["cache"]
    return step(name, after, run="echo %s >> %s; %s" % (name, LOG, text), **rest)


def pipeline(**rest):
    return flow("f", [cached("prepare", "sh prepare.sh", reads=["raw/*.csv"], writes=["clean.csv"], **rest),
                      cached("train", "sh train.sh > model.bin", ["prepare"], reads=["clean.csv"], writes=["model.bin"], **rest)])


def project():
    os.mkdir("p")
    os.chdir("p")
    os.mkdir("raw")
    write("raw/a.csv", "1\n")
    write("prepare.sh", "cat raw/*.csv > clean.csv\n")
    write("train.sh", "wc -l < clean.csv\n")
    manifest("f.yaml", pipeline())


def ran(*args, code=0, file="f.yaml"):
    """Runs the flow. Returns the steps that have run, in alphabetical order."""
    if os.path.exists(LOG):
        os.remove(LOG)
    jobflow("run", "-o", "quiet", *args, file, code=code)
    return " ".join(sorted(read(LOG).split()))


def node(name, flow_name="f"):
    nodes = json.loads(jobflow("get", "jf/" + flow_name, "-o", "json").stdout)["status"]["nodes"]
    return next(n for n in nodes if n["name"] == name)
