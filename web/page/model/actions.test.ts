import assert from "node:assert/strict";
import { test } from "node:test";
import { commandOf, copyOf, fatesOf, FLOW_ACTIONS, isOffered, isSeen, requestOf, sentenceOf, seriesOf, type FlowAction, type FlowFacts } from "./actions";

const facts = (phase: string, states: Record<string, string>, more: Partial<FlowFacts> = {}): FlowFacts =>
    ({ ns: "ml", name: "f", uid: "u", resourceVersion: "7", phase, suspended: false, states: new Map(Object.entries(states)), ...more });

const running = facts("Running", { a: "Completed", b: "Running", c: "Pending", d: "Waiting", e: "Waiting" });
const failed = facts("Failed", { a: "Completed", b: "Failed", c: "Not run", d: "Completed" });
const done = facts("Succeed", { a: "Completed" });

test("an action is offered where it makes sense", () => {
    const offered = (of: FlowFacts) => FLOW_ACTIONS.filter((action) => isOffered(action, of)).join(" ");
    assert.equal(offered(running), "suspend abort again delete");
    assert.equal(offered({ ...running, suspended: true }), "resume abort again delete");
    assert.equal(offered(failed), "retry again delete");
    assert.equal(offered(facts("Failed", { a: "Failed", b: "Running" })), "abort retry again delete");
    assert.equal(offered(done), "again delete");
    assert.ok(isOffered("from", done) && isOffered("only", failed) && !isOffered("from", running));
});

test("the sentence counts what it speaks of", () => {
    const table: [FlowAction, FlowFacts, RegExp][] = [
        ["suspend", running, /2 steps that have not begun wait\. 2 jobs go on/],
        ["resume", { ...running, suspended: true }, /2 steps that have not begun get their jobs/],
        ["abort", running, /^2 jobs at work are terminated, 2 steps never run, and f is Failed/],
        ["abort", facts("Failed", { a: "Running" }), /^1 job that is still at work is terminated/],
        ["retry", failed, /^1 failed step begins again .* 1 step that has not run follows .* 2 completed steps are kept/],
        ["again", done, /all its 1 step\./],
        ["delete", done, /^f is deleted with its jobs/],
        ["delete", running, /has not finished.* 2 jobs at work are killed, and 2 steps never run/],
    ];
    for (const [action, of, wanted] of table) assert.match(sentenceOf(action, of), wanted);
    const fates = fatesOf("STEP   THEN\na      kept\nb      runs again\nc      may run\nd      kept\n");
    assert.deepEqual(fates, [["a", "kept"], ["b", "runs again"], ["c", "may run"], ["d", "kept"]]);
    assert.match(sentenceOf("retry", failed, fates), /^1 step runs again with a new attempt, 1 step may run after it, and 2 steps stay as they are/);
});

test("requests name the object and, where its state decides, the revision", () => {
    for (const action of [...FLOW_ACTIONS, "from", "only"] as FlowAction[]) {
        if (action === "again") continue;
        const { method, body } = requestOf(action, failed, "v", ["b"]) as { method: string; body: any };
        assert.equal(method === "DELETE" ? body.preconditions.uid : body.metadata.uid, "u", action);
        assert.equal(body.metadata?.resourceVersion, ["retry", "from", "only"].includes(action) ? "7" : undefined, action);
    }
    const only = requestOf("only", failed, "v", ["b"]).body as any;
    assert.deepEqual(only.metadata.annotations, { "volcano.sh/jobFlowRetry": "v", "volcano.sh/jobFlowRetryFrom": null, "volcano.sh/jobFlowRetryOnly": "b", "volcano.sh/jobFlowRetryEdited": null, "volcano.sh/jobFlowAbort": null });
    assert.equal(requestOf("delete", running, "v").body["gracePeriodSeconds"], 0);
    assert.equal(requestOf("delete", done, "v").body["gracePeriodSeconds"], undefined);
    assert.equal(commandOf("from", failed, ["b"]), "jobflow rerun jf/f -n ml --from b");
    assert.equal(commandOf("only", { ...failed, name: "a;b", ns: "$n" }, ["x y", "z"]), "jobflow rerun 'jf/a;b' -n '$n' --only 'x y,z'");
    assert.equal(commandOf("delete", running), "jobflow delete jf/f -n ml --force");
});

test("an action is seen when the stream shows it", () => {
    const now = (change: object) => ({ ...running, gone: false, ...change });
    assert.ok(!isSeen("suspend", running, now({})) && isSeen("suspend", running, now({ suspended: true })));
    assert.ok(!isSeen("retry", failed, { ...failed, gone: false }) && isSeen("retry", failed, { ...failed, gone: false, resourceVersion: "8" }));
    assert.ok(!isSeen("retry", failed, { ...failed, gone: false, resourceVersion: "6" }));
    assert.ok(isSeen("delete", done, { ...done, gone: true }));
});

test("a copy keeps what users wrote, and nothing of controllers", () => {
    const document = {
        metadata: { name: "f", namespace: "ml", uid: "u", resourceVersion: "7", labels: { team: "a" }, annotations: { note: "x", "volcano.sh/jobFlowAbort": "1" } },
        spec: { suspend: true, parameters: [{ name: "p", default: "1" }, { name: "q", value: "2" }], flows: [] }, status: { state: {} },
    };
    assert.deepEqual(copyOf(document, "f-2", new Map([["p", "5"]])), {
        apiVersion: "flow.volcano.sh/v1alpha1", kind: "JobFlow",
        metadata: { name: "f-2", namespace: "ml", labels: { team: "a", "flow.volcano.sh/series": "f" }, annotations: { note: "x" } },
        spec: { parameters: [{ name: "p", default: "1", value: "5" }, { name: "q", value: "2" }], flows: [] },
    });
    assert.equal(seriesOf({ metadata: { name: "night-x", generateName: "night-" } }), "night");
});
