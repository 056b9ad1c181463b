import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePath, ReportSource, selected } from "./answers";
import type { ReportData, ReportFlow } from "./data";

const flow = (name: string): ReportFlow => ({
    ns: "ml", name, graph: btoa("JFC1"), line: { reset: true }, steps: [{ name: "a" }], why: { a: "exit code 3", "__proto__x": "" },
    flow: { metadata: { name } }, jobs: [{ metadata: { name: `${name}-a` } }], pods: [{ metadata: { name: `${name}-a-main-0`, labels: { "volcano.sh/job-name": `${name}-a` } } }],
    events: [{ involvedObject: { name }, message: "m" }], logs: [{ pod: `${name}-a-main-0`, container: "c", text: "broken\n" }], leftOut: [],
});
const data = (): ReportData => ({ version: "1", madeMs: 1, nowMs: 1, specs: true, flows: [flow("f"), flow("g")] });
const root = "/ui/api/apis/flow.volcano.sh/v1alpha1/namespaces/ml/jobflows";

test("a path is taken apart", () => {
    const { ns, kind, name, sub, query } = parsePath("/ui/api/api/v1/namespaces/ml/pods/a%2Fb/log?container=c");
    assert.deepEqual([ns, kind, name, sub, query.get("container")], ["ml", "pods", "a/b", "log", "c"]);
});

test("a selector picks the objects of its jobs", () => {
    const pods = [{ metadata: { labels: { j: "x" } } }, { metadata: { labels: { j: "y" } } }, {}];
    assert.equal(selected(pods, "j in (x,z)").length, 1);
    assert.equal(selected(pods, "anything").length, 0);
});

test("the views get what the report has", () => {
    const source = new ReportSource(data());
    assert.deepEqual([...new Uint8Array(source.bytes(`${root}/f/graph?part=steps`))], [74, 70, 67, 49]);
    assert.deepEqual(source.document(`${root}/g/steps?limit=2000`), { items: [{ name: "a" }] });
    assert.deepEqual(source.document("/ui/v1/explain?flow=ml%2Ff&step=a,constructor"), { steps: [{ name: "a", text: "exit code 3" }] });
    assert.equal((source.document("/ui/api/api/v1/namespaces/ml/pods?labelSelector=volcano.sh%2Fjob-name+in+%28f-a%29") as { items: unknown[] }).items.length, 1);
    assert.equal((source.document("/ui/api/api/v1/namespaces/ml/events?fieldSelector=involvedObject.name%3Df&limit=5") as { items: unknown[] }).items.length, 1);
    assert.equal(source.text("/ui/api/api/v1/namespaces/ml/pods/g-a-main-0/log?container=c&tailLines=5"), "broken\n");
    assert.deepEqual(source.lines("flow ml/f"), [{ reset: true }]);
});

test("what the report does not have is refused with a sentence", () => {
    const source = new ReportSource({ ...data(), specs: false });
    const why = (run: () => unknown) => {
        try {
            run();
        } catch (error) {
            return (error as Error).message;
        }
        return "";
    };
    assert.match(why(() => source.bytes(`${root}/none/graph`)), /not in the report/);
    assert.match(why(() => source.document(`${root}/none`)), /not in the report/);
    assert.match(why(() => source.document("/ui/api/apis/batch.volcano.sh/v1alpha1/namespaces/ml/jobs/x")), /without specs/);
    assert.match(why(() => source.text("/ui/api/api/v1/namespaces/ml/pods/x/log?container=c")), /--logs all/);
    assert.equal(source.lines("flow ml/none")[0]!["gone"], true);
});
