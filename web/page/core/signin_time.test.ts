import assert from "node:assert/strict";
import { test } from "node:test";
import { endsAfterRequest, endsSoon } from "./signin_time";

const HOUR = 3_600_000;
const ends = { idleMs: 12 * HOUR, idleEnds: 12 * HOUR, ends: 168 * HOUR };

test("the end is said five minutes before", () => {
    assert.equal(endsSoon(ends, 11 * HOUR), null);
    assert.equal(endsSoon(ends, 12 * HOUR - 300_001), null);
    assert.deepEqual(endsSoon(ends, 12 * HOUR - 300_000), { left: 300_000, fixed: false });
    assert.deepEqual(endsSoon(ends, 13 * HOUR), { left: 0, fixed: false });
});

test("a request prolongs it, but not beyond its whole time", () => {
    const later = endsAfterRequest(ends, 12 * HOUR - 1000);
    assert.equal(endsSoon(later, 12 * HOUR), null);
    assert.deepEqual(endsSoon(endsAfterRequest(ends, 168 * HOUR - 60_000), 168 * HOUR - 60_000), { left: 60_000, fixed: true });
});
