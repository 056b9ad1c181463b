import assert from "node:assert/strict";
import { test } from "node:test";
import { applicationsOf, hasSecret } from "./manifests";

const TEXT = "# ü\nkind: JobFlow\n---\nkind: Queue\n---\nkind: Secret\n";
const bytes = (text: string) => new TextEncoder().encode(text).length;
const second = bytes("# ü\nkind: JobFlow\n---\n");
const third = second + bytes("kind: Queue\n---\n");
const DOCUMENTS = [
    { begin: 5, line: 2, apiVersion: "flow.volcano.sh/v1alpha1", kind: "JobFlow", name: "f" },
    { begin: second, line: 4, apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", name: "q", namespace: "ignored" },
    { begin: third, line: 6, apiVersion: "v1", kind: "Secret", name: "s", namespace: "ml" },
];

test("each document is sent as it was written, in the order in which one needs the other", () => {
    const { list, problem } = applicationsOf(TEXT, DOCUMENTS, "default");
    assert.equal(problem, "");
    assert.deepEqual(list.map(({ path, text }) => [path, text]), [
        ["/ui/api/apis/scheduling.volcano.sh/v1beta1/queues/q?fieldManager=jobflow-ui", "kind: Queue\n---\n"],
        ["/ui/api/api/v1/namespaces/ml/secrets/s?fieldManager=jobflow-ui", "kind: Secret\n"],
        ["/ui/api/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows/f?fieldManager=jobflow-ui", "# ü\nkind: JobFlow\n---\n"],
    ]);
});

test("a kind that does not pass is named with its line", () => {
    for (const wrong of [{ kind: "ClusterRole", apiVersion: "rbac.authorization.k8s.io/v1" }, { kind: "Job", apiVersion: "batch/v1" }, { kind: "__proto__", apiVersion: "v1" }]) {
        const { list, problem } = applicationsOf("x", [{ begin: 0, line: 9, name: "x", ...wrong }], "default");
        assert.ok(list.length === 0 && problem.startsWith("line 9: "), problem);
    }
});

test("a text with a Secret is known", () => {
    assert.ok(hasSecret("kind: Secret\n") && hasSecret('{"kind": "Secret"}') && hasSecret("{kind: 'Secret'}"));
    assert.ok(!hasSecret("kind: SecretList\n") && !hasSecret("name: Secret"));
});
