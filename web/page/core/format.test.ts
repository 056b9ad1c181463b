import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, duration, exitCode, parseDuration, preciseDuration } from "./format";

const S = 1000;
const M = 60 * S;
const H = 60 * M;

test("durations read as those of the command line", () => {
    const rows: [number, string][] = [
        [-5 * S, "0s"], [0, "0s"], [999, "0s"], [119 * S, "119s"], [120 * S, "2m"], [200 * S, "3m20s"], [9 * M + 59 * S, "9m59s"], [10 * M + 5 * S, "10m"],
        [179 * M, "179m"], [3 * H, "3h"], [7 * H + 5 * M, "7h5m"], [8 * H + 5 * M, "8h"], [47 * H, "47h"], [49 * H, "2d1h"], [9 * 24 * H, "9d"], [730 * 24 * H, "2y"],
    ];
    for (const [ms, text] of rows) assert.equal(duration(ms), text);
    assert.equal(preciseDuration(1234), "1.23s");
    assert.equal(preciseDuration(61 * S), "61s");
});

test("durations are read in all units, and nothing else is", () => {
    assert.equal(parseDuration("90s"), 90 * S);
    assert.equal(parseDuration("1h30m"), 90 * M);
    assert.equal(parseDuration("250ms"), 250);
    for (const text of ["", "10", "m", "10x", "-5s", "1h 5m"]) assert.equal(parseDuration(text), null, text);
});

test("bytes and exit codes", () => {
    assert.equal(bytes(75), "75 B");
    assert.equal(bytes(2.1 * 1024 * 1024), "2.1 MiB");
    assert.equal(exitCode(137), "137 (SIGKILL)");
    assert.equal(exitCode(1), "1");
});
