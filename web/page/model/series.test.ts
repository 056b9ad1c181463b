import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlowRow } from "./rows";
import { seriesOf } from "./series";

const row = (name: string, series: string, at: number, tookMs: number, phase = "Succeed", ns = "ml"): FlowRow =>
    ({ key: `${ns}/${name}`, ns, name, series, phase, steps: 1, done: 1, failed: 0, running: 0, created: at, started: at, ended: phase === "Running" ? 0 : at + tookMs, reason: "" });

test("the runs of a series stand in the order of their starts", () => {
    const series = seriesOf([row("n", "n", 300, 30), row("n.1", "n", 100, 10), row("n.2", "n", 200, 50, "Failed"), row("alone", "alone", 1, 1), row("n", "n", 1, 1, "Succeed", "other")], 1000);
    assert.deepEqual([...series.keys()].sort(), ["ml/n", "ml/n.1", "ml/n.2"]);
    const found = series.get("ml/n")!;
    assert.deepEqual(found.runs.map(({ key, tookMs, failed }) => [key, tookMs, failed]), [["ml/n.1", 10, false], ["ml/n.2", 50, true], ["ml/n", 30, false]]);
    assert.deepEqual([found.lastMs, found.medianMs, found.failed], [30, 30, 1]);
});

test("what runs counts until now, and not for the median", () => {
    const found = seriesOf([row("a", "s", 100, 20), row("b", "s", 200, 40), row("c", "s", 300, 0, "Running")], 1000).get("ml/c")!;
    assert.deepEqual([found.runs[2]!.tookMs, found.lastMs, found.medianMs], [700, 40, 30]);
});

test("of many runs the newest are shown", () => {
    const found = seriesOf(Array.from({ length: 50 }, (_, i) => row(`r${i}`, "s", i + 1, i)), 1000).get("ml/r0")!;
    assert.equal(found.runs.length, 20);
    assert.deepEqual([found.runs[0]!.key, found.runs[19]!.key], ["ml/r30", "ml/r49"]);
});
