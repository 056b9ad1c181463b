import assert from "node:assert/strict";
import { test } from "node:test";
import { CHANGES, countsOf, joinRuns, runStep, totalsOf, type RunStep } from "./compare";
import { phaseOf } from "../core/phase";

const step = (name: string, ranMs: number, state = "Completed", more: Partial<RunStep> = {}): RunStep => ({ name, state, failed: state === "Failed", waitedMs: 0, ranMs, whole: false, attempts: 1, ...more });

test("steps are joined by name, what cost most first", () => {
    const before = [step("a", 1000), step("b", 1000), step("c", 2000), step("gone", 500), step("f", 10, "Failed"), step("s", 0, "Skipped", { ranMs: -1 }), step("n", 100)];
    const after = [step("new", 300), step("n", 10, "Failed"), step("a", 1050), step("b", 3000), step("c", 1000), step("f", 10), step("s", 10)];
    const joined = joinRuns(before, after);
    assert.deepEqual(joined.map(({ name, change }) => [name, change]), [
        ["b", "Slower"], ["new", "New"], ["a", "As before"], ["s", "Other end"], ["f", "No longer failed"], ["n", "Newly failed"], ["gone", "Gone"], ["c", "Faster"],
    ]);
    assert.deepEqual(joined.map(({ costMs }) => costMs), [2000, 300, 50, 10, 0, -90, -500, -1000]);
    assert.deepEqual([...countsOf(joined).keys()], [...CHANGES]);
});

test("short and small differences are none", () => {
    const change = (was: number, is: number) => joinRuns([step("a", was)], [step("a", is)])[0]!.change;
    assert.deepEqual([change(10, 100), change(10, 111), change(10_000, 10_900), change(10_000, 11_500), change(11_500, 10_000)], ["As before", "Slower", "As before", "Slower", "Faster"]);
    assert.equal(change(-1, 5000), "As before", "what is not known is no difference");
});

test("of an earlier run, whose jobs are gone, the whole time counts", () => {
    const whole = (ms: number) => step("a", ms, "Completed", { whole: true, waitedMs: -1 });
    const change = (was: RunStep, is: RunStep) => joinRuns([was], [is])[0]!;
    assert.equal(change(whole(3000), step("a", 2500, "Completed", { waitedMs: 1400 })).change, "As before");
    assert.equal(change(whole(3000), step("a", 4500, "Completed", { waitedMs: 1000 })).change, "Slower");
    assert.equal(change(whole(3000), whole(1000)).costMs, -2000);
    assert.ok(totalsOf([whole(1)]).whole);
    const gone = { name: "a", state: "Completed", attempts: 1, createdMs: 5000, startedMs: 0, endedMs: 7000 } as Parameters<typeof runStep>[0];
    assert.deepEqual(runStep(gone, false, 9000), { name: "a", state: "Completed", failed: false, waitedMs: -1, ranMs: 2000, whole: true, attempts: 1 });
});

test("totals leave out what is not known", () => {
    assert.deepEqual(totalsOf([step("a", 100, "Failed", { waitedMs: 5, attempts: 2 }), step("b", -1, "Skipped", { waitedMs: -1, attempts: 0 })]), { steps: 2, failed: 1, workMs: 100, waitedMs: 5, attempts: 2, whole: false });
});

test("each change has a sign, and no two of one colour have the same", () => {
    const seen = new Set(CHANGES.map((change) => JSON.stringify(phaseOf(change))));
    assert.equal(seen.size, CHANGES.length);
    assert.ok(CHANGES.every((change) => phaseOf(change).cls !== "running"), "nothing of a comparison turns");
});

test("a hundred thousand steps against as many", () => {
    const run = (by: number) => Array.from({ length: 100_000 }, (_, i) => step(`s${(i * by) % 100_003}`, i % 7));
    assert.equal(joinRuns(run(1), run(2)).length > 100_000, true);
});
