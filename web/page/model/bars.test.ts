import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, ticksOf } from "./bars";
import { FlowModel } from "./flow";

const T0 = Date.parse("2026-01-01T00:00:00Z");

function model(): FlowModel {
    const flow = new FlowModel();
    flow.take({ reset: true, uid: "u", generation: 1 });
    flow.takeSteps([{ name: "a" }, { name: "b", after: ["a"] }, { name: "c", strategy: "any", after: ["a", "b"] }]);
    flow.take({ flow: { phase: "Running", startedMs: T0 }, steps: [{ name: "a", state: "Completed", createdMs: T0, startedMs: T0 + 1000, endedMs: T0 + 5000, attempts: 1 }] });
    return flow;
}

test("a step is held until its job is made, pending until it runs, and runs until now", () => {
    const flow = model();
    assert.deepEqual(barsOf(flow, flow.step("a")!, [], T0 + 9000).map((bar) => [bar.kind, bar.from - T0, bar.to - T0]), [["held", 0, 0], ["pending", 0, 1000], ["run", 1000, 5000]]);
    assert.deepEqual(barsOf(flow, flow.step("b")!, [], T0 + 9000).map((bar) => [bar.kind, bar.from - T0, bar.to - T0]), [["held", 5000, 9000]]);
    flow.take({ steps: [{ name: "b", state: "Running", createdMs: T0 + 6000, startedMs: T0 + 8000, attempts: 1 }] });
    assert.deepEqual(barsOf(flow, flow.step("b")!, [], T0 + 9000).map((bar) => [bar.kind, bar.cls, bar.from - T0, bar.to - T0]),
        [["held", "waiting", 5000, 6000], ["pending", "queued", 6000, 8000], ["run", "running", 8000, 9000]]);
    assert.equal(flow.readyMs(flow.step("c")!), T0 + 5000);
});

test("nothing is drawn for times that are not known", () => {
    const flow = model();
    flow.take({ flow: { phase: "Failed", startedMs: T0, endedMs: T0 + 9000 }, steps: [{ name: "b", state: "Skipped" }] });
    assert.deepEqual(barsOf(flow, flow.step("b")!, [], T0 + 99_000), []);
    assert.ok(barsOf(flow, flow.step("c")!, [], T0 + 99_000).every((bar) => bar.to <= T0 + 99_000));
});

test("an axis has round places, at most as many as asked for", () => {
    for (const span of [1, 7, 100, 999, 5000, 61_000, 3_600_000, 9e8]) assert.ok(ticksOf(span, 8).length <= 9, String(span));
    assert.deepEqual(ticksOf(10_000, 10).slice(0, 3), [0, 1000, 2000]);
});
