"""kubectl and flows whose steps contain their scripts: explain, apply, diff, edit.

# covers: everyday.md EVD-098
"""
import os
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_kubectl import *  # noqa: E402,F403
from lib_serve import *  # noqa: E402,F403


def scripted(text):
    """A flow that does not begin, so that its steps may be edited."""
    made = flow("f", [step("a", run=text, env=[{"name": "V", "value": "1"}])], suspend=True)
    made["metadata"]["annotations"] = {"flow.volcano.sh/allow-updates": "true"}
    return made


def EVD_098__kubectl_explains_applies_diffs_and_edits_a_script():
    daemon = Daemon()
    for k in oldest_and_newest(daemon):
        k.says("Shell script of the step", "explain", "jf.spec.flows.run")
        k.says("Environment variables of the script", "explain", "jf.spec.flows.env")
        manifest("f.yaml", scripted("echo one"))
        k.says("created", "apply", "-f", "f.yaml")
        k.says("unchanged", "apply", "-f", "f.yaml")
        check_equal("no difference", k.run("diff", "-f", "f.yaml").stdout, "")
        manifest("f.yaml", scripted("echo two"))
        difference = k.run("diff", "-f", "f.yaml", code=1).stdout
        check_in("what goes", "echo one", difference)
        check_in("what comes", "echo two", difference)
        k.says("configured", "apply", "-f", "f.yaml")
        write("ed.sh", "sed -i 's/echo two/echo three/' \"$1\"\n")
        k.says("jobflow.flow.volcano.sh/f edited", "edit", "jf", "f", env={"KUBE_EDITOR": "sh ed.sh"})
        check_equal("edited", k.at("jf/f", ".spec.flows[0].run"), "echo three")
        k.run("delete", "jf/f", "--force", "--grace-period=0")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
