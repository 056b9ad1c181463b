import assert from "node:assert/strict";
import { test } from "node:test";
import { FlowModel } from "./flow";
import { Vertices } from "./vertices";

const BASE = 1_000_000;

function model(): FlowModel {
    const flow = new FlowModel();
    flow.take({ reset: true, uid: "", generation: 0, count: 3, base: BASE, loops: [] });
    return flow;
}

test("states that come before the graph are taken when it is there", () => {
    const flow = model();
    flow.take({ phases: ["Completed", "Running"], from: 0, phase: [0, 1], attempt: [1, 2], made: [1, 20], run: [5, 0], end: [10, 0], words: [{ i: 1, reason: "why", restarts: 3 }] });
    flow.takeSteps([{ name: "a" }, { name: "b", after: ["a"] }, { name: "c", after: ["b"] }]);
    const [a, b, c] = flow.steps;
    assert.deepEqual([a!.state, a!.attempts, a!.createdMs, a!.startedMs, a!.endedMs], ["Completed", 1, BASE + 10, BASE + 50, BASE + 100]);
    assert.deepEqual([b!.state, b!.startedMs, b!.reason, b!.restarts, b!.after, b!.before], ["Running", 0, "why", 3, [0], [2]]);
    assert.equal(c!.state, "Waiting");
    assert.deepEqual([...flow.countsByState()].sort(), [["Completed", 1], ["Running", 1], ["Waiting", 1]]);
    const { version } = b!;
    flow.take({ phases: ["Completed", "Running", "Failed"], i: [1], phase: [2], attempt: [2], made: [20], run: [30], end: [40] });
    assert.deepEqual([b!.state, b!.endedMs, b!.version > version], ["Failed", BASE + 400, true]);
    assert.deepEqual(flow.failures().map((step) => step.name), ["b"]);
    flow.take({ words: [{ i: 1 }] });
    assert.deepEqual([b!.reason, b!.restarts], ["", 0]);
});

test("lines of another version wait for its graph", () => {
    const flow = model();
    flow.takeSteps([{ name: "a" }]);
    flow.take({ reset: true, uid: "other", generation: 1, count: 1, base: BASE, loops: [] });
    assert.equal(flow.fits(), false);
    flow.take({ phases: ["Running"], from: 0, phase: [0], attempt: [1], made: [1], run: [0], end: [0] });
    assert.equal(flow.step("a")!.state, "Waiting");
});

test("a model is complete once its graph has the times of all steps, whichever comes first", () => {
    const states = { phases: ["Completed"], from: 0, phase: [0], attempt: [1], made: [1], run: [5], end: [10] };
    const late = model();
    late.takeSteps([{ name: "a" }]);
    assert.equal(late.complete, false);
    late.take(states);
    assert.equal(late.complete, false, "more lines may follow");
    late.take({ ready: true });
    assert.equal(late.complete, true);
    late.take({ reset: true, uid: "", generation: 0, count: 1, base: BASE, loops: [] });
    assert.equal(late.complete, true, "a connection that begins anew takes nothing away");
    const early = model();
    early.take({ ...states, ready: true });
    assert.equal(early.complete, false);
    early.takeSteps([{ name: "a" }]);
    assert.equal(early.complete, true);
    const other = model();
    other.takeSteps([{ name: "a" }]);
    other.take({ reset: true, uid: "other", generation: 1, count: 1, base: BASE, loops: [], ready: true });
    assert.equal(other.complete, false, "the graph is that of another version");
});

test("iterations stand behind their loop and tell how far it has come", () => {
    const vertices = new Vertices(6, [[1, 3]]);
    assert.deepEqual([0, 1, 2, 3, 4, 5].map((vertex) => vertices.stepOf(vertex)), [0, 1, 1, 1, 1, 2]);
    assert.deepEqual([0, 1, 2, 3, 4, 5].map((vertex) => vertices.isStep(vertex)), [true, true, false, false, false, true]);
    vertices.setPhase(2, "Completed");
    vertices.setPhase(3, "Running");
    assert.equal(vertices.progress(1, false), "1/3");
    assert.equal(vertices.progress(1, true), "1/2");
    const plain = new Vertices(2, []);
    assert.deepEqual([plain.stepOf(1), plain.isStep(1)], [1, true]);
});
