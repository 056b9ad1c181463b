"""Runs other tests again as an ordinary user.

# covers: local-runtime.md LRT-02
"""
import os
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_user import *  # noqa: E402,F403: sys.path is set above; cases use all names


def ordinary(script, *cases):
    if os.geteuid() != 0:
        raise Skip("all tests run as this user anyway")
    if not can(ORDINARY + ["true"]):
        raise Skip("setpriv cannot start a program as the user nobody here")
    need_one_thread()
    run_there(ORDINARY, script, *cases)


def an_ordinary_user_runs_and_goes_on():
    ordinary("run.py", "zero", "one", "refused", "data_directory", "interrupt", "at_once", "grace", "after", "edited", "spaces")


def an_ordinary_user_runs_the_examples():
    ordinary("examples.py", "every_example_runs")


def an_ordinary_user_survives_kills():
    ordinary("kill.py")


def an_ordinary_user_has_frameworks_at_work_side_by_side():
    ordinary("frameworks.py", "two_jobs_of_each", "they_do_in_a_network")


def an_ordinary_user_is_rid_of_what_pods_leave():
    ordinary("misbehave.py", "at_every_level")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
