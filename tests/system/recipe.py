"""Adds the plugin of docs/plugins.md as the document describes, with one file and one line, and checks that it works.

The source tree stays unchanged: the changed header and the new file are found before the originals, and the files that
depend on the list of plugins are recompiled with the flags of the build.
"""
import re
import shlex
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

BUILD = os.path.dirname(JOBFLOW)

# A job with the new plugin. The cases check admission, its pod and its objects.
PROGRAM = r'''
#include <stdio.h>
#include "api/types/admission.h"
#include "tests/support/job_bench.h"

static const char yaml[] =
    "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, namespace: ns, uid: u}, spec: "
    "{plugins: {greeting: [--text=ahoy, --texd=x], env: []}, tasks: [{name: t, replicas: 1, template: {spec: "
    "{containers: [{name: c, command: [x]}]}}}]}}";

static void add_objects(void *arg, const struct job_plugin *plugin, const struct job_plugin_job *job)
{
    if (plugin->objects)
        plugin->objects(job, arg);
}

int main(void)
{
    struct job_bench bench = job_bench_new(yaml);
    struct job_plugin_job job = job_plugin_job_of(&bench.model);
    json_t *pod = job_bench_pod(&bench, "t", 0);
    struct job_object_plan plan = {0};
    struct error_list errors = {0}, warnings = {0};
    const struct admission adm = {.warnings = &warnings};

    printf("env %s\n", job_bench_env(&bench, pod, "c"));
    printf("mounts %s\n", job_bench_mounts(&bench, pod, "c"));
    job_plugins_each(&job, add_objects, &plan, NULL);
    for (size_t i = 0; i < plan.count; i++)
        printf("object %s %s %s\n", plan.items[i].kind->name, plan.items[i].name, plan.items[i].body->text);
    job_plugin_rules.check(&adm, bench.model.compiled->spec, NULL, "spec", &errors);
    for (size_t i = 0; i < warnings.count; i++)
        printf("warning %s\n", warnings.items[i].message);
    printf("errors %zu\n", errors.count);
    error_list_release(&warnings);
    job_object_plan_release(&plan);
    json_decref(pod);
    job_bench_free(&bench);
    return 0;
}
'''
LIBRARIES = ["-luv", "-ljansson", "-lyaml", "-lxxhash", "-lcrypto", "-lcmocka", "-lm", "-lpthread"]


def build_flags():
    """Returns compiler and flags of job/plugins/plugin.c without the arguments that name its files."""
    path = os.path.join(BUILD, "compile_commands.json")
    if not os.path.exists(path):
        raise Skip("no compile_commands.json beside the program")
    for entry in json.loads(read(path)):
        if entry["file"].endswith("/job/plugins/plugin.c"):
            words = [w for w in entry["command"].split() if "ccache" not in w]
            while words[-1] != "-o" and "-o" in words:
                words.pop()
            return words[:-1]
    raise Failure("job/plugins/plugin.c is not in compile_commands.json")


def compile_file(flags, path, out):
    done = subprocess.run(flags[:1] + ["-I" + os.getcwd()] + flags[1:] + ["-o", out, "-c", path], capture_output=True, text=True,
                          timeout=DEADLINE * 4, check=False)
    check(done.returncode == 0, "%s does not compile:\n%s" % (path, done.stderr[-3000:]))
    return out


def follow_recipe():
    """Writes the file and the line from the document; returns the flags to compile them with."""
    text = read(os.path.join(SOURCE, "docs", "plugins.md"))
    code = re.findall(r"^```c\n(.*?)^```", text, re.M | re.S)
    line = re.findall(r"^2\. `    (X\(\w+\))`", text, re.M)
    check_equal("blocks of C and lines to add", (len(code), len(line)), (1, 1))
    header = read(os.path.join(SOURCE, "job", "plugins", "plugin.h"))
    check_in("the list", "    X(env)             \\\n", header)
    os.makedirs("job/plugins")
    write("job/plugins/plugin.h", header.replace("    X(env)             \\\n", "    X(env)             \\\n    %s        \\\n" % line[0]))
    write("job/plugins/greeting.c", code[0])
    return build_flags()


def compile_recipe(flags):
    return [compile_file(flags, path, name) for path, name in (
        ("job/plugins/greeting.c", "greeting.o"), (os.path.join(SOURCE, "job", "plugins", "plugin.c"), "plugin.o"))]


def program_with(objects):
    """Links the whole program as the build does, with these objects in front of its archives."""
    if not os.path.exists(os.path.join(BUILD, "build.ninja")) or not shutil.which("ninja"):
        raise Skip("the program was not built with ninja")
    done = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "jobflow"], capture_output=True, text=True, timeout=DEADLINE, check=True)
    words = [w for w in shlex.split(done.stdout.splitlines()[-1]) if w not in (":", "&&")]
    words[words.index("-o") + 1] = os.path.abspath("jobflow")
    at = words.index("-o")
    done = subprocess.run(words[:at] + [os.path.abspath(o) for o in objects] + words[at:], cwd=BUILD, capture_output=True, text=True,
                          timeout=DEADLINE * 4, check=False)
    check(done.returncode == 0, "does not link:\n" + done.stderr[-3000:])
    return os.path.abspath("jobflow")


def the_program_with_the_recipes_plugin_runs_jobs_with_it():
    program = program_with(compile_recipe(follow_recipe()))
    made = task("t", "echo $GREETING from $(cat /etc/greeting/greeting)", 2)
    manifest("job.yaml", {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j"},
                          "spec": {"plugins": {"greeting": ["--text=ahoy"]}, "tasks": [made]}})
    done = subprocess.run([program, "run", "-o", "plain", "--logs", "job.yaml"], capture_output=True, text=True, timeout=DEADLINE, check=False)
    check_equal("exit code\n%s%s" % (done.stdout, done.stderr), done.returncode, 0)
    for index in (0, 1):
        check_in("pod %d" % index, "[j-t-%d] ahoy from ahoy" % index, done.stdout)
    refused = subprocess.run([JOBFLOW, "validate", "job.yaml"], capture_output=True, text=True, timeout=DEADLINE, check=False)
    check_in("the program without it", "unable to find job plugin: greeting", refused.stderr)
    nothing_left()


def the_recipe_of_the_documents_makes_a_plugin():
    flags = follow_recipe()
    write("main.c", PROGRAM)
    objects = [compile_file(flags, "main.c", "main.o")] + compile_recipe(flags)
    archives = [os.path.join(BUILD, "lib", "lib%s.a" % n) for n in ("test_support", "job", "api_cluster", "api_types", "base")]
    link = [f for f in flags if f.startswith(("-fsanitize", "--coverage", "-O", "-g"))]
    done = subprocess.run(flags[:1] + link + ["-o", "recipe"] + objects + ["-Wl,--start-group"] + archives + ["-Wl,--end-group"] + LIBRARIES,
                          capture_output=True, text=True, timeout=DEADLINE * 4, check=False)
    check(done.returncode == 0, "does not link:\n" + done.stderr[-3000:])
    done = subprocess.run(["./recipe"], capture_output=True, text=True, timeout=DEADLINE, check=False)
    check_equal("exit code", (done.returncode, done.stderr), (0, ""))
    check_equal("what it does", done.stdout.splitlines(), [
        "env VK_TASK_INDEX=0 VC_TASK_INDEX=0 GREETING=ahoy",
        "mounts j-greeting:/etc/greeting",
        'object ConfigMap j-greeting {"data":{"greeting":"ahoy"}}',
        'warning plugin greeting: argument ignored: flag "texd" is unknown; known flags are text',
        "errors 0"])


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
