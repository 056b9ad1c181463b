"""A flow to start from, and the schema for editors (everyday.md 3.6).

# covers: everyday.md EVD-092 EVD-093 EVD-094
"""
import copy
import glob
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_tools import need_modules  # noqa: E402


def EVD_092__what_init_writes_runs_at_once():
    out = jobflow("init").stdout
    check_in("what it wrote", "wrote pipeline.yaml and pipeline.test.yaml", out)
    for line in out.splitlines()[1:]:
        words = line.split()
        jobflow(*words[1:3])
    for command in (["validate", "--strict"], ["plan"]):
        check_equal(command[0] + " has no warning", jobflow(*command, "pipeline.yaml").stderr, "")
    check_equal("the report", read("report.txt"), "1000 rows\n")
    steps = {s["name"]: s["phase"] for s in json.loads(jobflow("get", "jf", "pipeline", "--subresource", "steps", "-o", "json").stdout)["items"]}
    check_equal("many rows", steps["sample"], "Completed")
    jobflow("run", "pipeline.yaml", "-p", "rows=20", "--fresh", "-o", "quiet")
    steps = {s["name"]: s["phase"] for s in json.loads(jobflow("get", "jf", "pipeline", "--subresource", "steps", "-o", "json").stdout)["items"]}
    check_equal("few rows", steps["sample"], "Skipped")


def EVD_093__init_replaces_nothing():
    write("pipeline.test.yaml", "mine")
    refused = jobflow("init", code=2)
    check_in("the reason", "pipeline.test.yaml exists: --force replaces it", refused.stderr)
    check(not os.path.exists("pipeline.yaml"), "the other file is not written either")
    check_equal("the file", read("pipeline.test.yaml"), "mine")
    jobflow("init", "--force", "--schema", "below/here")
    jobflow("init", "--force")
    check_in("replaced", "manifests: [pipeline.yaml]", read("pipeline.test.yaml"))
    first = read("below/here/pipeline.yaml").splitlines()[0]
    check_equal("the schema is named", first, "# yaml-language-server: $schema=./jobflow.schema.json")
    check_equal("and is there", read("below/here/jobflow.schema.json"), jobflow("schema").stdout)


# A mistake each: what is wrong, where it stands in the flow, and a value. `validate` finds all of them.
FLOW = flow("f", [{"name": "a", "run": "true"}], parameters=[{"name": "p", "default": "1"}])
MISTAKES = [
    ("an unknown member", ["spec", "flow"], []),
    ("an unknown member of a step", ["spec", "flows", 0, "depends"], []),
    ("a text for a list", ["spec", "flows"], "a"),
    ("a number for a text", ["spec", "flows", 0, "run"], 1),
    ("an empty script", ["spec", "flows", 0, "run"], ""),
    ("an empty name", ["spec", "flows", 0, "name"], ""),
    ("an unknown enum", ["spec", "failurePolicy"], "never"),
    ("a negative bound", ["spec", "maxRetry"], -1),
    ("a text for a bool", ["spec", "suspend"], "yes"),
    ("a variable without a name", ["spec", "flows", 0, "env"], [{"value": "x"}]),
    ("a list for an object", ["spec", "flows", 0, "dependsOn"], []),
    ("an unknown operator", ["spec", "flows", 0, "dependsOn"], {"targets": [], "strategy": "most"}),
    ("a gang without steps", ["spec", "gangs"], [{"name": "g"}]),
    ("text in place of a number of a patch", ["spec", "flows", 0, "patch"], {"spec": {"tasks": [{"name": "main", "replicas": "many"}]}}),
    ("an unknown member of a patch", ["spec", "flows", 0, "patch"], {"spec": {"task": []}}),
    ("a parameter without a name", ["spec", "parameters"], [{"default": "1"}]),
]


def with_mistake(path, value):
    doc = json.loads(json.dumps(FLOW))
    place = doc
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return doc


def EVD_094__the_schema_agrees_with_validate():
    need_modules("jsonschema", "yaml", python=sys.executable)
    import jsonschema
    import yaml
    schema = json.loads(jobflow("schema").stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    judge = jsonschema.Draft7Validator(schema)
    jobflow("init")
    files = glob.glob(os.path.join(SOURCE, "examples", "**", "*.yaml"), recursive=True) + glob.glob("*.yaml")
    check(len(files) > 20, "the examples are found")
    for path in files:
        with open(path, encoding="utf-8") as text:
            for doc in yaml.safe_load_all(text):
                found = [e.message for e in judge.iter_errors(doc)] if doc else []
                check_equal(path, found, [])
    check_equal("the flow without a mistake", [e.message for e in judge.iter_errors(FLOW)], [])
    for name, path, value in MISTAKES:
        doc = with_mistake(path, value)
        manifest("m.yaml", doc)
        jobflow("validate", "m.yaml", code=2)
        check(not judge.is_valid(doc), name + " is found by the schema")


# What `validate` finds and the schema does not, by the text of the error, and why.
VALIDATE_ALONE = [
    ("is not defined in these files|no step |does not wait for it|has no default", "it depends on another part of the files"),
    ("give exactly one of|target: Required value|what \\w+ compares with|a list of exit codes", "members that exclude or need each other"),
    ("must be an integer", "exit codes are one number or a list, which the schema leaves open"),
    ("RFC 1123|must look like|must be a |must have no |is no ", "formats of texts"),
    ("has no container|a pod needs a container|No task specified|has no task", "what the job has when its template and its patch are put together"),
]


def places(node, path=()):
    yield path, node
    for key, value in (node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()):
        yield from places(value, path + (key,))


def changes(doc):
    """Each way to make one mistake, or what may be one: an unknown member, a missing one, a value of another type, an odd value."""
    for path, node in places(doc):
        if path in (("apiVersion",), ("kind",)):
            continue
        if isinstance(node, dict):
            yield path, "with an unknown member", dict(node, misspelt=1)
            for member in node:
                if path or member not in ("apiVersion", "kind"):
                    yield path, "without " + member, {key: value for key, value in node.items() if key != member}
        if path:
            for value in ([[]], {"a": {}}, "nonsense value", -7, True):
                yield path, "is %r" % (value,), value


def changed(doc, path, value):
    if not path:
        return value
    doc = copy.deepcopy(doc)
    place = doc
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return doc


def EVD_094__of_300_mistakes_the_schema_finds_all_but_those_with_a_reason():
    need_modules("jsonschema", "yaml", python=sys.executable)
    import jsonschema
    import yaml
    judge = jsonschema.Draft7Validator(json.loads(jobflow("schema").stdout))
    with open(os.path.join(SOURCE, "tests", "system", "everything.yaml"), encoding="utf-8") as text:
        docs = [doc for doc in yaml.safe_load_all(text) if doc]
    every = [(i,) + change for i, doc in enumerate(docs) for change in changes(doc)]
    mistakes, wrong = 0, []
    for i, path, what, value in every[::len(every) // 335]:
        doc = changed(docs[i], path, value)
        name = "%s %s %s" % (doc.get("kind"), ".".join(str(key) for key in path), what)
        manifest("m.yaml", *docs[:i], doc, *docs[i + 1:])
        done = jobflow("validate", "m.yaml", code=None)
        mistakes += done.returncode != 0
        if done.returncode == 0 and not judge.is_valid(doc):
            wrong.append(name + ": the schema refuses what is right")
        elif done.returncode and judge.is_valid(doc):
            errors = "".join(line for line in done.stderr.splitlines() if line.startswith("error: "))
            if not any(re.search(text, errors) for text, _ in VALIDATE_ALONE):
                wrong.append("%s: validate alone finds: %s" % (name, errors))
    check_equal("disagreements", wrong, [])
    check(mistakes >= 300, "only %d mistakes were tried" % mistakes)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
