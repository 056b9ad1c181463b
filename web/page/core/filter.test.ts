import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFilter, type FieldKinds } from "./filter";

const KINDS: FieldKinds = { state: "text", attempt: "number", took: "duration" };
const ROWS = [
    { text: "train-large gpu", fields: { state: "Running", attempt: 2, took: 700_000 } },
    { text: "train-small", fields: { state: "Failed", attempt: 1, took: 5_000 } },
    { text: "report", fields: { state: "Waiting", attempt: undefined, took: undefined } },
];

function matches(text: string): number[] {
    const filter = parseFilter(text, KINDS);
    assert.equal(filter.error, "", text);
    return ROWS.flatMap((row, at) => (filter.matches(row) ? [at] : []));
}

test("words and fields must all hold", () => {
    assert.deepEqual(matches(""), [0, 1, 2]);
    assert.deepEqual(matches("TRAIN"), [0, 1]);
    assert.deepEqual(matches("train state:failed"), [1]);
    assert.deepEqual(matches("attempt:>1"), [0]);
    assert.deepEqual(matches("attempt:1"), [1]);
    assert.deepEqual(matches("took:>10m"), [0]);
    assert.deepEqual(matches("took:<10s"), [1]);
    assert.deepEqual(matches("-state:failed"), [0, 2]);
    assert.deepEqual(matches('"large gpu"'), [0]);
    assert.deepEqual(matches("-"), [0, 1]);
});

test("a mistake is an error and hides nothing", () => {
    for (const text of ["nope:x", "attempt:many", "took:>10", "state:>x", "state:", "constructor:x"]) {
        const filter = parseFilter(text, KINDS);
        assert.ok(filter.error !== "", text);
        assert.ok(ROWS.every((row) => filter.matches(row)), text);
    }
});
