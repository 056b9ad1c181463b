/*
 * Admission of JobFlows.
 * covers: jobflow.md 1 2 3 4 5 6 7 8 9 10 11 12 13 21 22 23 24 25 26 28 29 30 31 32 85 163 175;
 * reliability.md L-14 L-17 L-32 L-34
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/mem.h"
#include "tests/api/types/kinds/admission_fixture.h"

#define FLOW_HEAD(name)                                                                            \
    "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: " name                  \
    ", namespace: ns}\nspec:\n"
#define FLOW(flows)          FLOW_HEAD("f") "  flows: [" flows "]\n"
#define STEP(name)           "{name: " name "}"
#define AFTER(name, targets) "{name: " name ", dependsOn: {targets: [" targets "]}}"
#define ANNOTATED(annotations)                                                                     \
    "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\n"                                        \
    "metadata: {name: f, namespace: ns, annotations: {" annotations "}}\n"                         \
    "spec: {flows: [{name: a}]}\n"
#define PROBE(probe) FLOW(STEP("a") ", {name: b, dependsOn: {targets: [a], probe: {" probe "}}}")

#define IF(term) FLOW(STEP("a") ", {name: b, dependsOn: {targets: [a]}, if: {terms: [" term "]}}")

/* clang-format off */
static const struct verdict_case cases[] = {
    {"1: diamond with joins",      FLOW(STEP("a") "," AFTER("b", "a") "," AFTER("c", "a, b") "," AFTER("d", "b") "," AFTER("e", "c, d"))
                                   "  jobRetainPolicy: retain\n"},
    {"2: chain",                   FLOW(STEP("start") "," AFTER("middle", "start") "," AFTER("end", "middle"))},
    {"3: six steps",               FLOW(STEP("a") "," STEP("b") "," AFTER("c", "a") "," AFTER("d", "b") "," AFTER("e", "c, d") "," AFTER("f", "e"))},
    {"4: one step",                FLOW(STEP("a"))},
    {"5: no steps",                FLOW("")},
    {"6: undefined target",        FLOW(AFTER("b", "a") "," AFTER("c", "a, b")), "spec.flows[0].dependsOn.targets[0]",
                                   "jobflow Flow is not DAG: vertex is not defined: a"},
    {"6: the nearest is named",    FLOW(STEP("a") "," AFTER("b", "aa")), "spec.flows[1].dependsOn.targets[0]",
                                   "no step aa; did you mean \"a\"? (jobflow Flow is not DAG: vertex is not defined: aa)"},
    {"6: each place is named",     FLOW(AFTER("b", "a") "," AFTER("c", "b, a")), "spec.flows[1].dependsOn.targets[1]",
                                   "vertex is not defined: a"},
    {"7: cycle",                   FLOW(AFTER("a", "b") "," AFTER("b", "a") "," AFTER("c", "a, b") "," AFTER("d", "b") "," AFTER("e", "c, d")),
                                   "spec.flows[0].dependsOn.targets[0]", "jobflow Flow is not DAG: a -> b -> a"},
    {"8: step waits for itself",   FLOW(AFTER("x", "x")), "spec.flows[0].dependsOn.targets[0]", "jobflow Flow is not DAG: x -> x"},
    {"9: duplicate step",          FLOW(STEP("a") "," STEP("a") "," AFTER("b", "a")), "spec.flows[1].name", "duplicated template name a"},
    {"10: duplicate with targets", FLOW(STEP("a") "," AFTER("b", "a") "," AFTER("c", "a") "," AFTER("c", "b")), "spec.flows[3].name",
                                   "duplicated template name c"},
    {"target of a duplicate",      FLOW(AFTER("a", "nobody") "," STEP("a")), "spec.flows[0].dependsOn.targets[0]", "vertex is not defined: nobody"},
    {"cycle beside an undefined",  FLOW(AFTER("u", "v") "," AFTER("v", "u") "," AFTER("w", "nobody")), "spec.flows[0].dependsOn.targets[0]",
                                   "jobflow Flow is not DAG: u -> v -> u"},
    {"cycle in order",             FLOW(AFTER("a", "c") "," AFTER("b", "a") "," AFTER("c", "x, b") "," STEP("x")), "spec.flows[0].dependsOn.targets[0]",
                                   "a -> b -> c -> a (a cycle of 3"},
    {"mistyped target",            FLOW(STEP("build") "," AFTER("test", "biuld")), "spec.flows[1].dependsOn.targets[0]", "did you mean \"build\"?"},
    {"21: repeated target",        FLOW(STEP("a") "," AFTER("b", "a, a"))},
    {"22: retain policy",          FLOW(STEP("a")) "  jobRetainPolicy: keep\n", "spec.jobRetainPolicy", "\"retain\", \"delete\""},
    {"23: empty name",             FLOW("{name: \"\"}"), "spec.flows[0].name", "at least 1 chars"},
    {"23: no name",                FLOW("{dependsOn: {targets: []}}"), "spec.flows[0].name", "Required value"},
    {"24: tcp without port",       PROBE("tcpSocketList: [{taskName: t}]"), "spec.flows[1].dependsOn.probe.tcpSocketList[0].port", "Required value"},
    {"24: tcp port too high",      PROBE("tcpSocketList: [{port: 65536}]"), "spec.flows[1].dependsOn.probe.tcpSocketList[0].port", "65535"},
    {"tcp port 0",                 PROBE("tcpSocketList: [{port: 0}]"), "spec.flows[1].dependsOn.probe.tcpSocketList[0].port", "between 1 and 65535"},
    {"http port 0 is 80",          PROBE("httpGetList: [{port: 0, path: /ready}]")},
    {"25: header without value",   PROBE("httpGetList: [{port: 80, httpHeader: {name: a}}]"),
                                   "spec.flows[1].dependsOn.probe.httpGetList[0].httpHeader.value", "Required value"},
    {"empty header name is none",  PROBE("httpGetList: [{port: 80, httpHeader: {name: \"\", value: \"\"}}]")},
    {"header is no token",         PROBE("httpGetList: [{port: 80, httpHeader: {name: \"a b\", value: x}}]"),
                                   "spec.flows[1].dependsOn.probe.httpGetList[0].httpHeader.name", "header name"},
    {"header with a line break",   PROBE("httpGetList: [{port: 80, httpHeader: {name: a, value: \"x\\r\\nHost: y\"}}]"),
                                   "spec.flows[1].dependsOn.probe.httpGetList[0].httpHeader.value", "control characters"},
    {"forbidden header",           PROBE("httpGetList: [{port: 80, httpHeader: {name: content-length, value: \"1\"}}]"),
                                   "spec.flows[1].dependsOn.probe.httpGetList[0].httpHeader.name", "Forbidden"},
    {"forbidden proxy header",     PROBE("httpGetList: [{port: 80, httpHeader: {name: Proxy-Foo, value: \"1\"}}]"), NULL, "Forbidden"},
    {"host header is allowed",     PROBE("httpGetList: [{port: 80, httpHeader: {name: Host, value: example}}]")},
    {"path with a space",          PROBE("httpGetList: [{port: 80, path: \"/a b\"}]"), "spec.flows[1].dependsOn.probe.httpGetList[0].path", "spaces"},
    {"scheme",                     PROBE("httpGetList: [{port: 80, scheme: FTP}]"), "spec.flows[1].dependsOn.probe.httpGetList[0].scheme", "HTTPS"},
    {"task phase in any case",     PROBE("taskStatusList: [{taskName: t, phase: completed}, {taskName: t}]")},
    {"task phase unknown",         PROBE("taskStatusList: [{taskName: t, phase: Ready}]"),
                                   "spec.flows[1].dependsOn.probe.taskStatusList[0].phase", "\"Ready\""},
    {"28: patch.spec",             FLOW("{name: a, patch: {spec: {tasks: [{name: t, replicas: 2}]}}}")},
    {"patch.jobSpec",              FLOW("{name: a, patch: {jobSpec: {queue: q}, spec: {tasks: []}}}")},
    {"patch keeps directives",     FLOW("{name: a, patch: {spec: {tasks: [{name: t, $patch: delete}], plugins: {svc: []}}}}")},
    {"patch is type-checked",      FLOW("{name: a, patch: {spec: {tasks: [{replicas: many}]}}}"), "spec.flows[0].patch.spec.tasks[0].replicas", "integer"},
    {"patch of unknown field",     FLOW("{name: a, patch: {spec: {task: []}}}"), "spec.flows[0].patch.spec.task", "did you mean \"tasks\""},
    {"30: strategy some",          FLOW(STEP("a") ", {name: b, dependsOn: {targets: [a], strategy: some}}"), "spec.flows[1].dependsOn.strategy", "\"all\", \"any\""},
    {"strategy any",               FLOW(STEP("a") ", {name: b, dependsOn: {targets: [a], strategy: any}}")},
    {"31: job name too long",      FLOW(STEP("a12345678901234567890123456789012345678901234567890123456789012")), "spec.flows[0].name",
                                   "f-a12345678901234567890123456789012345678901234567890123456789012, which has 65 characters: at most 63"},
    {"31: longest job name",       FLOW(STEP("a234567890123456789012345678901234567890123456789012345678901"))},
    {"job name is no name",        FLOW(STEP("Train")), "spec.flows[0].name", "f-Train"},
    {"13.3 if",                    FLOW(STEP("a") ", {name: b, dependsOn: {targets: [a]}, if: {terms: [{target: a, phases: [Failed]}]}}")},
    {"if on a distant ancestor",   FLOW(STEP("a") "," AFTER("b", "a") ", {name: c, dependsOn: {targets: [b]}, if: {terms: [{target: a, output: {key: k, values: [v]}}]}}")},
    {"if on a stranger",           FLOW(STEP("a") ", {name: b, if: {terms: [{target: a, phases: [Failed]}]}}"), "spec.flows[1].if.terms[0].target", "does not wait for it"},
    {"if on an unknown step",               FLOW(STEP("a") ", {name: b, if: {terms: [{target: x, phases: [Failed]}]}}"), "spec.flows[1].if.terms[0].target", "no step of this flow"},
    {"if on itself",               FLOW("{name: b, if: {terms: [{target: b, phases: [Failed]}]}}"), "spec.flows[0].if.terms[0].target", "does not wait for it, for it is the step itself"},
    {"term of nothing",            IF("{target: a}"), "spec.flows[1].if.terms[0]", "exactly one of"},
    {"term of two",                IF("{target: a, phases: [Failed], output: {key: k, operator: Exists}}"), "spec.flows[1].if.terms[0]", "exactly one of"},
    {"no terms",                   FLOW(STEP("a") ", {name: b, dependsOn: {targets: [a]}, if: {terms: []}}"), "spec.flows[1].if.terms", "at least 1"},
    {"term without target",        IF("{phases: [Failed]}"), "spec.flows[1].if.terms[0].target", "Required value"},
    {"unknown phase",              IF("{target: a, phases: [Done]}"), "spec.flows[1].if.terms[0].phases[0]", "\"Skipped\""},
    {"exit code",                  IF("{target: a, exitCode: {operator: Gt, values: [2]}}")},
    {"exit code no number",        IF("{target: a, exitCode: {values: [x]}}"), "spec.flows[1].if.terms[0].exitCode.values[0]", "integer"},
    {"exit code Gt two",           IF("{target: a, exitCode: {operator: Gt, values: [1, 2]}}"), "spec.flows[1].if.terms[0].exitCode.values", "exactly one value"},
    {"exit codes missing",         IF("{target: a, exitCode: {values: []}}"), "spec.flows[1].if.terms[0].exitCode.values", "a list of exit codes"},
    {"output without values",      IF("{target: a, output: {key: k}}"), "spec.flows[1].if.terms[0].output.values", "In compares with"},
    {"output exists with values",  IF("{target: a, output: {key: k, operator: Exists, values: [x]}}"), "spec.flows[1].if.terms[0].output.values", "takes no values"},
    {"unknown parameter",          IF("{parameter: {name: p, values: [x]}}"), "spec.flows[1].if.terms[0].parameter.name", "no parameter of that name"},
    {"parameter",                  IF("{parameter: {name: p, values: [x]}}") "  parameters: [{name: p, default: x}]\n"},
    {"parameter with a target",    IF("{target: a, parameter: {name: p, values: [x]}}") "  parameters: [{name: p, value: x}]\n", "spec.flows[1].if.terms[0].target", "belongs to the flow"},
    {"parameter without value",    FLOW(STEP("a")) "  parameters: [{name: p}]\n", "spec.parameters[0].value", "-p p=VALUE"},
    {"parameter twice",            FLOW(STEP("a")) "  parameters: [{name: p, value: x}, {name: p, value: z}]\n", "spec.parameters[1].name", "Duplicate"},
    {"parameter's name",           FLOW(STEP("a")) "  parameters: [{name: 1p, value: x}]\n", "spec.parameters[0].name", "beginning with"},
    {"patch uses a parameter",     FLOW("{name: a, patch: {spec: {queue: \"$(params.q)\"}}}") "  parameters: [{name: q, value: x}]\n"},
    {"a number, too",              FLOW("{name: a, patch: {spec: {tasks: [{name: t, replicas: \"$(params.count)\"}]}}}") "  parameters: [{name: count, value: \"3\"}]\n"},
    {"a number and more",          FLOW("{name: a, patch: {spec: {tasks: [{name: t, replicas: \"1$(params.count)\"}]}}}") "  parameters: [{name: count, value: \"3\"}]\n", "spec.flows[0].patch.spec.tasks[0].replicas", "integer"},
    {"nearly a parameter",         FLOW("{name: a, patch: {spec: {queue: \"$(params.qeue)\"}}}") "  parameters: [{name: queue, value: x}]\n", "spec.flows[0].patch", "did you mean \"queue\"?"},
    {"nearly one in a condition",  IF("{parameter: {name: size, values: [x]}}") "  parameters: [{name: sizes, default: x}]\n", "spec.flows[1].if.terms[0].parameter.name", "did you mean \"sizes\"?"},
    {"nearly a step in a patch",   FLOW(STEP("fetch") ", {name: b, dependsOn: {targets: [fetch]}, patch: {spec: {queue: \"$(steps.fecth.outputs.q)\"}}}"), "spec.flows[1].patch", "did you mean \"fetch\"?"},
    {"nearly a step in a switch",  FLOW("{name: a, switch: {default: [fecth]}}, " STEP("fetch")), "spec.flows[0].switch.default[0]", "did you mean \"fetch\"?"},
    {"nearly a step in a gang",    FLOW(STEP("fetch") "," STEP("b")) "  gangs: [{name: g, flows: [fecth, b]}]\n", "spec.gangs[0].flows[0]", "did you mean \"fetch\"?"},
    {"another engine's targets",   FLOW(STEP("a") ", {name: b, needs: [a]}"), "spec.flows[1].needs", "write dependsOn: {targets: [STEP]}"},
    {"another engine's loop",      FLOW("{name: b, withItems: [a]}"), "spec.flows[0].withItems", "write for: {items:"},
    {"another engine's retry",     FLOW("{name: b, retry: {limit: 2}}"), "spec.flows[0].retry.limit", "write maxRetry"},
    {"another engine's program",   FLOW("{name: b, container: ls}"), "spec.flows[0].container", "JobTemplate"},
    {"another engine's steps",     FLOW(STEP("a")) "  steps: []\n", "spec.steps", "write flows"},
    {"an unknown field",           FLOW("{name: b, zzz: 1}"), "spec.flows[0].zzz", "unknown field"},
    {"patch uses none",            FLOW("{name: a, patch: {spec: {queue: \"$(params.q)\"}}}"), "spec.flows[0].patch", "no parameter of that name"},
    {"escaped it is a text",       FLOW("{name: a, patch: {spec: {tasks: [{name: t, template: {spec: {containers: [{name: c, args: [\"$$(params.q) $(HOME)\"]}]}}}]}}}")},
    {"patch uses an output",       FLOW(STEP("a") ", {name: b, dependsOn: {targets: [a]}, patch: {spec: {queue: \"$(steps.a.outputs.q)\"}}}")},
    {"patch uses a stranger's",    FLOW(STEP("a") ", {name: b, patch: {spec: {queue: \"$(nodes.a.outputs.q)\"}}}"), "spec.flows[1].patch", "does not wait for it"},
    {"items of an output",         FLOW(STEP("a") ", {name: b, dependsOn: {targets: [a]}, for: {itemsFrom: {target: a, key: k}, maxIterations: 9, parallelism: 2}}")},
    {"items without a bound",      FLOW(STEP("a") ", {name: b, dependsOn: {targets: [a]}, for: {itemsFrom: {target: a, key: k}}}"), "spec.flows[1].for.maxIterations", "Required"},
    {"items of a stranger",        FLOW(STEP("a") ", {name: b, for: {itemsFrom: {target: a, key: k}, maxIterations: 9}}"), "spec.flows[1].for.itemsFrom.target", "does not wait for it"},
    {"items of an unknown step",            FLOW("{name: b, for: {itemsFrom: {target: zz, key: k}, maxIterations: 9}}"), "spec.flows[0].for.itemsFrom.target", "no step of this flow"},
    {"items without key",          FLOW(STEP("a") ", {name: b, dependsOn: {targets: [a]}, for: {itemsFrom: {target: a}, maxIterations: 9}}"), "spec.flows[1].for.itemsFrom.key", "Required"},
    {"items of two sorts",         FLOW(STEP("a") ", {name: b, dependsOn: {targets: [a]}, for: {items: [x], itemsFrom: {target: a, key: k}, maxIterations: 9}}"), "spec.flows[1].for", "exactly one of"},
    {"its last job's name",        FLOW(STEP("a") ", {name: b, dependsOn: {targets: [a]}, for: {itemsFrom: {target: a, key: k}, maxIterations: 9}}, " STEP("b-8")), "spec.flows[2].name", "the same job name"},
    {"13.3 switch",                FLOW("{name: a, switch: {default: [b]}}, " STEP("b"))},
    {"163: listed in two",         FLOW("{name: a, switch: {default: [c]}}, {name: b, switch: {default: [c]}}, " STEP("c")), "spec.flows[1].switch.default[0]", "one switch only"},
    {"163: listed and undefined",  FLOW("{name: a, switch: {default: [c]}}"), "spec.flows[0].switch.default[0]", "no step of this flow"},
    {"switch without steps", FLOW("{name: a, switch: {}}"), "spec.flows[0].switch", "name the steps to choose"},
    {"switch in a cycle",          FLOW("{name: a, dependsOn: {targets: [b]}, switch: {default: [b]}}, " STEP("b")), NULL, "a -> b -> a"},
    {"switch has no template",     FLOW("{name: a, jobTemplateName: t, switch: {default: [b]}}, " STEP("b")), "spec.flows[0].jobTemplateName", "makes no job"},
    {"switch has no patch",        FLOW("{name: a, patch: {spec: {queue: q}}, switch: {default: [b]}}, " STEP("b")), "spec.flows[0].patch", "makes no job"},
    {"two cases of a name",        FLOW(STEP("z") ", {name: a, dependsOn: {targets: [z]}, switch: {cases: [{name: x, if: {terms: [{target: z, phases: [Failed]}]}, flows: [b]}, {name: x, if: {terms: [{target: z, phases: [Failed]}]}, flows: [b]}]}}, " STEP("b")), "spec.flows[1].switch.cases[1].name", "Duplicate"},
    {"13.4 retry",                 FLOW("{name: a, retry: {maxRetry: 1, phases: [Aborted], exitCodes: {operator: NotIn, values: [2]}}}")},
    {"retry of a good phase",      FLOW("{name: a, retry: {phases: [Completed]}}"), "spec.flows[0].retry.phases[0]", "\"Aborted\""},
    {"retry factor",               FLOW("{name: a, retry: {backoffFactor: 11}}"), "spec.flows[0].retry.backoffFactor", "10"},
    {"13.4 step failurePolicy",    FLOW("{name: a, failurePolicy: ignore}")},
    {"13.4 its default",           FLOW("{name: a, failurePolicy: fail}")},
    {"13.4 flow failurePolicy",    FLOW(STEP("a")) "  failurePolicy: continue\n"},
    {"13.4 abort",                 FLOW(STEP("a")) "  failurePolicy: abort\n"},
    {"13.3 handledFailures",       FLOW(STEP("a")) "  handledFailures: succeed\n"},
    {"13.3 its default",           FLOW(STEP("a")) "  handledFailures: fail\n"},
    {"13.3 unknown value",         FLOW(STEP("a")) "  handledFailures: ignore\n", "spec.handledFailures", "\"fail\", \"succeed\""},
    {"13.4 unknown policy",        FLOW(STEP("a")) "  failurePolicy: ignore\n", "spec.failurePolicy", "\"stop\", \"abort\", \"continue\""},
    {"policy by annotation",       ANNOTATED(ANNOTATION_FAILURE_POLICY ": continue")},
    {"unknown one by annotation",  ANNOTATED(ANNOTATION_FAILURE_POLICY ": go"),
                                   "metadata.annotations[" ANNOTATION_FAILURE_POLICY "]", "\"stop\", \"abort\", \"continue\""},
    {"retry by annotation",        ANNOTATED(ANNOTATION_FLOW_RETRY ": now")},
    {"13.4 maxRetry",              FLOW(STEP("a")) "  maxRetry: 1\n"},
    {"13.5 for",                   FLOW("{name: a, for: {items: [x]}}")},
    {"for of nothing",             FLOW("{name: a, for: {parallelism: 1}}"), "spec.flows[0].for", "exactly one of"},
    {"for of two",                 FLOW("{name: a, for: {items: [x], range: {end: 3}}}"), "spec.flows[0].for", "exactly one of"},
    {"for too long",               FLOW("{name: a, for: {range: {end: 10001}}}"), "spec.flows[0].for.range", "at most 10000"},
    {"for backwards",              FLOW("{name: a, for: {range: {start: 10, end: 0, step: -3}}}")},
    {"for of step 0",              FLOW("{name: a, for: {range: {end: 3, step: 0}}}"), "spec.flows[0].for.range.step", "must not be 0"},
    {"until without an end",       FLOW("{name: a, for: {until: {terms: [{target: a, output: {key: k, operator: Exists}}]}}}"), "spec.flows[0].for.maxIterations", "Required value"},
    {"until",                      FLOW("{name: a, for: {maxIterations: 3, until: {terms: [{target: a, output: {key: k, operator: Exists}}]}}}")},
    {"until in parallel",          FLOW("{name: a, for: {maxIterations: 3, parallelism: 2, until: {terms: [{target: a, output: {key: k, operator: Exists}}]}}}"), "spec.flows[0].for.parallelism", "one after the other"},
    {"32: same job name",          FLOW("{name: a, for: {items: [u, v, w]}}, " STEP("a-1")), "spec.flows[1].name", "has the same job name"},
    {"32: beyond the iterations",  FLOW("{name: a, for: {items: [u, v, w]}}, " STEP("a-3"))},
    {"31: of an iteration",        FLOW("{name: a2345678901234567890123456789012345678901234567890123456789012, for: {range: {end: 11}}}"), "spec.flows[0].name", "-10, which has"},
    {"final step",                 FLOW(STEP("a") ", {name: b, when: always}, {name: c, when: Always, dependsOn: {targets: [b]}}")},
    {"final waits for all anyway", FLOW(STEP("a") ", {name: b, when: always, dependsOn: {targets: [a]}}"), "spec.flows[1].dependsOn.targets[0]", "waits for all the others anyway"},
    {"waiting for a final step",   FLOW("{name: a, when: always}, " AFTER("b", "a")), "spec.flows[1].dependsOn.targets[0]", "runs at the end"},
    {"final with an if on any",    FLOW(STEP("a") ", {name: b, when: always, if: {terms: [{target: a, phases: [Failed]}]}}")},
    {"13.6 gangs",                 FLOW(STEP("a")) "  gangs: [{name: g, flows: [a]}]\n"},
    {"175: member after member",   FLOW(STEP("a") "," AFTER("x", "a") "," AFTER("b", "x")) "  gangs: [{name: g, flows: [a, b]}]\n", "spec.gangs[0].flows[1]", "could never start together"},
    {"175: but for a probe",       PROBE("tcpSocketList: [{port: 1}]") "  gangs: [{name: g, flows: [a, b]}]\n"},
    {"in two gangs",               FLOW(STEP("a")) "  gangs: [{name: g, flows: [a]}, {name: h, flows: [a]}]\n", "spec.gangs[1].flows[0]", "in a gang already"},
    {"gang of too few",            FLOW(STEP("a")) "  gangs: [{name: g, flows: [a], minAvailable: 2}]\n", "spec.gangs[0].minAvailable", "has 1 members"},
    {"gang without room",          FLOW(STEP("a") "," STEP("b")) "  scheduling: {maxRunningJobs: 1}\n  gangs: [{name: g, flows: [a, b]}]\n", "spec.gangs[0]", "needs 2 jobs at once"},
    {"gang that fits",             FLOW(STEP("a") "," STEP("b")) "  scheduling: {maxRunningJobs: 1}\n  gangs: [{name: g, flows: [a, b], minAvailable: 1}]\n"},
    {"gang of a switch",           FLOW("{name: a, switch: {default: [b]}}, " STEP("b")) "  gangs: [{name: g, flows: [a]}]\n", "spec.gangs[0].flows[0]", "makes no job"},
    {"13.7 scheduling",            FLOW(STEP("a")) "  scheduling: {queue: q, maxRunningJobs: 3, order: criticalPath, plugins: {svc: []}}\n"},
    {"no running jobs at all",     FLOW(STEP("a")) "  scheduling: {maxRunningJobs: 0}\n", "spec.scheduling.maxRunningJobs", "1"},
    {"13.11 suspend",              FLOW(STEP("a")) "  suspend: true\n"},
    {"13.11 not suspended",        FLOW(STEP("a")) "  suspend: false\n"},
    {"13.11 deadline",             FLOW(STEP("a")) "  activeDeadlineSeconds: 5\n"},
    {"no time at all",             FLOW(STEP("a")) "  activeDeadlineSeconds: 0\n", "spec.activeDeadlineSeconds", "1"},
    {"13.11 ttl",                  FLOW(STEP("a")) "  ttlSecondsAfterFinished: 5\n"},
    {"type errors of such fields", FLOW("{name: a, for: {items: x}}"), "spec.flows[0].for.items", "array"},
    {"mistyped field",             FLOW("{name: a, dependOn: {}}"), "spec.flows[0].dependOn", "did you mean \"dependsOn\""},
    {"null is absent",             FLOW("{name: a, dependsOn: null, patch: {jobSpec: null}}")},
};
/* clang-format on */

static void flows_are_accepted_and_refused(void **state)
{
    check_verdicts(cases, countof(cases));
}

static void all_findings_are_reported_at_once(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    assert_null(fixture_admit(
        &fixture,
        FLOW(STEP("a") "," STEP("a") "," AFTER(
            "b", "p, q") ", {name: c, if: {terms: [{target: a}]}}") "  suspend: true\n",
        NULL));
    check_int("findings", fixture.errors.count, 5);
    check("first undefined",
          has_finding(&fixture.errors, "spec.flows[2].dependsOn.targets[0]", "not defined: p"));
    check("second undefined",
          has_finding(&fixture.errors, "spec.flows[2].dependsOn.targets[1]", "not defined: q"));
    check("no order without names", !has_finding(&fixture.errors, NULL, "cycle"));
    fixture_release(&fixture);
}

/* With --jobflow-compat=upstream, flows with duplicate names are accepted. */
static void upstream_compatibility_accepts_duplicate_names(void **state)
{
    struct admission_fixture fixture;
    static const struct verdict_case upstream[] = {
        {"9: twice a", FLOW(STEP("a") "," STEP("a") "," AFTER("b", "a"))},
        {"10: twice c",
         FLOW(STEP("a") "," AFTER("b", "a") "," AFTER("c", "a") "," AFTER("c", "b"))},
        {"the last one's targets count", FLOW(AFTER("a", "a") "," STEP("a"))},
        {"6: undefined target", FLOW(AFTER("b", "a")), NULL, "vertex is not defined: a"},
        {"fields of section 13 are kept and ignored", FLOW("{name: a, retry: {maxRetry: 1}}")},
    };

    fixture_init(&fixture);
    fixture.adm.upstream_compat = true;
    for (size_t i = 0; i < countof(upstream); i++)
        check_verdict(&fixture, &upstream[i], NULL);
    fixture_release(&fixture);
}

static void a_patch_gets_no_defaults(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);

    scoped(object) struct object *flow =
        fixture_admit(&fixture, FLOW("{name: a, patch: {jobSpec: {minAvailable: 1}}}"), NULL);
    const struct jobflow_spec *spec = jobflow_spec_of(flow);

    check_str(
        "body", flow->body->text,
        "{\"spec\":{\"flows\":[{\"name\":\"a\",\"patch\":{\"jobSpec\":{\"minAvailable\":1}}}]}}");
    check_int("patch", json_object_size(spec->steps.items[0].patch_job_spec), 1);
    assert_null(spec->steps.items[0].patch_spec);
    assert_null(spec->steps.items[0].depends);
    fixture_release(&fixture);
}

static void a_flow_is_decoded_once(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);

    scoped(object) struct object *flow = fixture_admit(
        &fixture,
        PROBE("httpGetList: [{taskName: t, port: 8080, path: /r, httpHeader: {name: h, "
              "value: v}}], "
              "tcpSocketList: [{port: 9, timeoutSeconds: 2}], taskStatusList: [{phase: "
              "Failed}]") "  jobRetainPolicy: delete\n",
        NULL);
    const struct jobflow_spec *spec = jobflow_spec_of(flow);
    const struct flow_probe *probe = spec->steps.items[1].depends->probe;

    assert_ptr_equal(jobflow_spec_of(flow), spec);
    check_int("steps", spec->steps.count, 2);
    check_str("target", spec->steps.items[1].depends->targets.items[0], "a");
    check_int("retain", spec->retain_policy, RETAIN_POLICY_DELETE);
    check_str("http task", probe->http.items[0].task, "t");
    check_int("http port", probe->http.items[0].port, 8080);
    check_str("header", probe->http.items[0].header_name, "h");
    check_str("header value", probe->http.items[0].header_value, "v");
    check_int("tcp timeout", probe->tcp.items[0].timeout_s, 2);
    check_str("phase", probe->task_status.items[0].phase, "Failed");
    fixture_release(&fixture);
}

#define TEMPLATE(name, spec)                                                                       \
    "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\nmetadata: {name: " name              \
    ", namespace: ns}\nspec: {" spec "}\n"

static void probable_mistakes_are_warned_about(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    fixture_add(&fixture,
                TEMPLATE("a", "ttlSecondsAfterFinished: 5, tasks: [{name: t, replicas: 1}]"));

    scoped(object) struct object *flow =
        fixture_admit(&fixture,
                      FLOW(STEP("a") ", {name: b, dependsOn: {targets: [a, a], probe: "
                                     "{tcpSocketList: [{taskName: u, port: 1}]}}}, "
                                     "{name: c, jobTemplateName: zz, dependsOn: {probe: "
                                     "{tcpSocketList: [{port: 1}]}}}"),
                      NULL);

    assert_non_null(flow);
    check("ttl", has_finding(&fixture.warnings, "spec.flows[0].name", "ttlSecondsAfterFinished"));
    check("repeated",
          has_finding(&fixture.warnings, "spec.flows[1].dependsOn.targets[1]", "more than once"));
    check("no task",
          has_finding(&fixture.warnings, "spec.flows[1].dependsOn.probe.tcpSocketList[0].taskName",
                      "\"u\""));
    check("no template",
          has_finding(&fixture.warnings, "spec.flows[2].jobTemplateName", "zz does not exist yet"));
    check("no targets",
          has_finding(&fixture.warnings, "spec.flows[2].dependsOn.probe", "without targets"));

    scoped(object) struct object *empty = fixture_admit(&fixture, FLOW(""), NULL);

    check("empty", has_finding(&fixture.warnings, "spec.flows", "succeeds at once"));
    fixture_release(&fixture);
}

static void references_that_are_not_replaced_are_warned_about(void **state)
{
    static const struct {
        const char *step, *text;
    } rows[] = {
        /* clang-format off */
        {"name: b, patch: {spec: {queue: \"$(item)\"}}",             "$(item) stays as it is written: the step has no for"},
        {"name: b, patch: {spec: {queue: \"$(index)\"}}",            "$(index) stays as it is written"},
        {"name: b, patch: {spec: {queue: \"$(flow.phase)\"}}",       "only steps with when: always"},
        {"name: b, patch: {spec: {queue: \"$(steps.a.output.x)\"}}", "$(steps.a.output.x) stays as it is written: references are"},
        {"name: b, patch: {spec: {queue: \"x$(flow.nam)\"}}",        "$(flow.nam) stays as it is written"},
        {"name: b, patch: {spec: {queue: \"$(loop.index)\"}}",       "$(loop.index) stays as it is written: references are $(params.NAME), $(steps.NAME.outputs.KEY), $(item), $(index)"},
        {"name: b, patch: {spec: {queue: \"$(tasks.a.results.x)\"}}", "$(tasks.a.results.x) stays as it is written"},
        {"name: b, for: {items: [x]}, patch: {spec: {queue: \"$(item)$(index)\"}}", NULL},
        {"name: b, when: always, patch: {spec: {queue: \"$(flow.phase)\"}}",      NULL},
        {"name: b, patch: {spec: {queue: \"$(HOME) $$(steps.x) $(steps\"}}",       NULL},
        {"name: b, patch: {spec: {queue: \"$(task.sh) $(node.js)\"}}",            NULL},
        /* clang-format on */
    };

    for (size_t i = 0; i < countof(rows); i++) {
        scoped_str spec = mem_printf(FLOW(STEP("a") ", {%s}"), rows[i].step);
        struct admission_fixture fixture;
        bool found;

        fixture_init(&fixture);
        object_unref(fixture_admit(&fixture, spec, NULL));
        found =
            has_finding(&fixture.warnings, "spec.flows[1].patch", rows[i].text ? rows[i].text : "");
        check(rows[i].step, found == (rows[i].text != NULL));
        fixture_release(&fixture);
    }
}

static void comparing_with_a_text_that_is_no_number_is_warned_about(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    object_unref(fixture_admit(
        &fixture, IF("{target: a, output: {key: k, operator: Gt, values: [\"$(params.p)\"]}}"),
        NULL));
    check("a reference may be one",
          !has_finding(&fixture.warnings, "spec.flows[1].if.terms[0].output.values[0]", ""));
    object_unref(fixture_admit(
        &fixture, IF("{target: a, output: {key: k, operator: Gt, values: [x]}}"), NULL));
    check("warned", has_finding(&fixture.warnings, "spec.flows[1].if.terms[0].output.values[0]",
                                "Gt compares numbers, and \"x\" is none"));
    fixture_release(&fixture);
}

static void an_existing_template_is_checked(void **state)
{
    struct admission_fixture fixture;
    static const struct verdict_case known[] = {
        {"unnamed patch of two tasks",
         FLOW("{name: a, jobTemplateName: two, patch: {spec: {tasks: [{replicas: 2}]}}}"),
         "spec.flows[0].patch.spec.tasks[0].name", "say which one is patched"},
        {"unnamed patch of both", FLOW("{name: a, jobTemplateName: two, patch: {spec: {tasks: "
                                       "[{replicas: 2}, {replicas: 3}]}}}")},
        {"unnamed patch of one",
         FLOW("{name: a, jobTemplateName: one, patch: {spec: {tasks: [{replicas: 2}]}}}")},
        {"pod name too long", FLOW("{name: a, jobTemplateName: long}"), "spec.flows[0].name",
         "which has 67 characters"},
    };

    fixture_init(&fixture);
    fixture_add(&fixture, TEMPLATE("one", "tasks: [{name: t, replicas: 1}]"));
    fixture_add(&fixture,
                TEMPLATE("two", "tasks: [{name: t, replicas: 1}, {name: u, replicas: 1}]"));
    fixture_add(
        &fixture,
        TEMPLATE("long",
                 "tasks: [{name: a2345678901234567890123456789012345678901234567890123456789, "
                 "replicas: 101}]"));
    for (size_t i = 0; i < countof(known); i++)
        check_verdict(&fixture, &known[i], NULL);
    fixture_release(&fixture);
}

#define FLOW_LIVE(annotations, flows, status)                                                      \
    "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\n"                                        \
    "metadata: {name: f, namespace: ns, uid: u1, annotations: {" annotations "}}\n"                \
    "spec: {flows: [" flows "]}\nstatus: {state: {phase: " status "}}\n"
#define ALLOW "flow.volcano.sh/allow-updates: \"true\""
#define JOB_OF(name, uid)                                                                          \
    "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: " name                     \
    ", namespace: ns, ownerReferences: [{apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, "    \
    "name: f, uid: " uid ", controller: true}]}\n"

struct update_case {
    struct verdict_case verdict;
    const char *old;
    bool server_allows;
};

/* clang-format off */
#define AB STEP("a") "," AFTER("b", "a")
static const struct update_case updates[] = {
    {{"11: refused with the way out", FLOW_LIVE("", AB "," AFTER("c", "b"), "Running"), "spec", "jobflow updates are not supported"},
     FLOW_LIVE("", AB, "Running")},
    {{"11: the annotation is named", FLOW_LIVE("", AB "," AFTER("c", "b"), "Running"), "spec", "flow.volcano.sh/allow-updates: \"true\""},
     FLOW_LIVE("", AB, "Running")},
    {{"11: allowed by annotation", FLOW_LIVE(ALLOW, AB "," AFTER("c", "b"), "Running")}, FLOW_LIVE("", AB, "Running")},
    {{"11: allowed by the server", FLOW_LIVE("", AB "," AFTER("c", "b"), "Running")}, FLOW_LIVE("", AB, "Running"), true},
    {{"the annotation wins", FLOW_LIVE("flow.volcano.sh/allow-updates: \"false\"", AB "," AFTER("c", "b"), "Running"), "spec", "not supported"},
     FLOW_LIVE("", AB, "Running"), true},
    {{"12: no cycle by update", FLOW_LIVE(ALLOW, AFTER("a", "b") "," AFTER("b", "a"), "Running"), NULL, "jobflow Flow is not DAG"},
     FLOW_LIVE("", AB, "Running")},
    {{"metadata may change", FLOW_LIVE("note: new", AB, "Running")}, FLOW_LIVE("", AB, "Running")},
    {{"what means the same is no change", FLOW_LIVE("", "{name: a, dependsOn: {targets: []}}," AFTER("b", "a"), "Running")},
     FLOW_LIVE("", "{name: a, dependsOn: {}}," AFTER("b", "a"), "Running")},
    {{"a started step keeps its patch", FLOW_LIVE(ALLOW, "{name: a, patch: {spec: {maxRetry: 5}}}," AFTER("b", "a"), "Running"), "spec.flows[0].patch",
      "has a job already"}, FLOW_LIVE("", AB, "Running")},
    {{"a started step keeps its template", FLOW_LIVE(ALLOW, "{name: a, jobTemplateName: t}," AFTER("b", "a"), "Running"), "spec.flows[0].jobTemplateName",
      "has a job already"}, FLOW_LIVE("", AB, "Running")},
    {{"other steps may change", FLOW_LIVE(ALLOW, STEP("a") ", {name: b, jobTemplateName: t}", "Running")}, FLOW_LIVE("", AB, "Running")},
    {{"a foreign job does not count", FLOW_LIVE(ALLOW, STEP("a") "," AFTER("b", "a") ", {name: c, jobTemplateName: u}", "Running")},
     FLOW_LIVE("", AB "," STEP("c"), "Running")},
    {{"steps of an ended flow stay", FLOW_LIVE(ALLOW, STEP("a"), "Succeed"), "spec.flows", "the flow has ended (Succeed)"},
     FLOW_LIVE("", AB, "Succeed")},
};
/* clang-format on */

static void updates_follow_the_rules(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    fixture_add(&fixture, JOB_OF("f-a", "u1"));
    fixture_add(&fixture, JOB_OF("f-c", "another"));
    for (size_t i = 0; i < countof(updates); i++) {
        scoped(json) json_t *doc = document(updates[i].old);
        struct error_list errors = {0};
        scoped(object) struct object *old = object_from_json(doc, &errors);

        fixture.adm.allow_flow_updates = updates[i].server_allows;
        check_verdict(&fixture, &updates[i].verdict, old);
    }
    fixture_release(&fixture);
}

static void a_changed_dependency_of_a_started_step_is_a_warning(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    fixture_add(&fixture, JOB_OF("f-b", "u1"));

    const struct object *old = fixture_add(&fixture, FLOW_LIVE("", AB, "Running"));
    scoped(object) struct object *flow =
        fixture_admit(&fixture, FLOW_LIVE(ALLOW, STEP("a") "," STEP("b"), "Running"), old);

    assert_non_null(flow);
    check("warned", has_finding(&fixture.warnings, "spec.flows[1].dependsOn", "has no effect"));
    fixture_release(&fixture);
}

static void limits_hold(void **state)
{
    struct admission_fixture fixture;
    struct limits limits = limits_default;
    static const struct verdict_case sizes[] = {
        {"steps at the limit", FLOW(STEP("a") "," AFTER("b", "a") "," AFTER("c", "a"))},
        {"one step too many", FLOW(STEP("a") "," STEP("b") "," STEP("c") "," STEP("d")),
         "spec.flows", "at most 3 steps"},
        {"one target too many", FLOW(STEP("a") "," AFTER("b", "a, a") "," AFTER("c", "a")),
         "spec.flows", "at most 2"},
    };

    fixture_init(&fixture);
    check_int("DC-05", limits.flow_steps, 100000);
    check_int("DC-05", limits_hard.flow_steps, 1000000);
    limits.flow_steps = 3;
    limits.flow_edges = 2;
    fixture.adm.limits = &limits;
    for (size_t i = 0; i < countof(sizes); i++)
        check_verdict(&fixture, &sizes[i], NULL);
    fixture_release(&fixture);
}

static void a_phase_is_parsed_or_attached_to_the_text(void **state)
{
    struct buf text = {0};
    struct admission_fixture fixture;

    fixture_init(&fixture);

    const struct object *flow = fixture_add(&fixture, FLOW_LIVE("", AB, "Failed"));

    check_int("read", jobflow_phase_of(flow), FLOW_FAILED);
    buf_str(&text, "{\"state\":{\"phase\":\"Running\"}}");

    scoped(object) struct object *running = object_with_status(
        flow, jobflow_status_blob(&text, &(struct jobflow_summary){FLOW_RUNNING}));

    check_int("left", jobflow_phase_of(running), FLOW_RUNNING);
    check_str("phase", flow_phase_text(FLOW_SUCCEED), "Succeed");

    enum flow_phase phase = FLOW_PENDING;

    check("unknown phase", !flow_phase_parse("Succeeded", &phase) && phase == FLOW_PENDING);
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_are_accepted_and_refused),
        cmocka_unit_test(all_findings_are_reported_at_once),
        cmocka_unit_test(upstream_compatibility_accepts_duplicate_names),
        cmocka_unit_test(a_patch_gets_no_defaults),
        cmocka_unit_test(a_flow_is_decoded_once),
        cmocka_unit_test(probable_mistakes_are_warned_about),
        cmocka_unit_test(references_that_are_not_replaced_are_warned_about),
        cmocka_unit_test(comparing_with_a_text_that_is_no_number_is_warned_about),
        cmocka_unit_test(an_existing_template_is_checked),
        cmocka_unit_test(updates_follow_the_rules),
        cmocka_unit_test(a_changed_dependency_of_a_started_step_is_a_warning),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(a_phase_is_parsed_or_attached_to_the_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
