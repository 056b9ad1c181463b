import assert from "node:assert/strict";
import { test } from "node:test";
import { refresh } from "./refresh";

/* Work that ends when the test says so, and a clock that the test moves. */
function fixture() {
    const ends: (() => void)[] = [];
    const timers: (() => void)[] = [];
    const it = refresh(() => new Promise<void>((resolve) => ends.push(resolve)), 500, (run) => timers.push(run));
    const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
    return { it, ends, timers, end: async () => { ends.at(-1)!(); await settle(); }, fire: () => timers.shift()!() };
}

test("a change during the work makes it be done once more", async () => {
    const f = fixture();
    f.it.poke();
    f.it.poke();
    assert.equal(f.timers.length, 0, "never twice at a time");
    await f.end();
    assert.equal(f.timers.length, 1);
    f.fire();
    assert.equal(f.ends.length, 2);
    await f.end();
    assert.equal(f.timers.length, 0, "nothing has changed since");
});

test("many changes are one piece of work, and after the end there is none", async () => {
    const f = fixture();
    await f.end();
    for (let i = 0; i < 9; i++) f.it.poke();
    assert.equal(f.timers.length, 1);
    f.it.stop();
    f.fire();
    f.it.poke();
    assert.deepEqual([f.ends.length, f.timers.length], [1, 0]);
});

test("work that fails is done again after a change", async () => {
    let runs = 0;
    const timers: (() => void)[] = [];
    const it = refresh(async () => { runs++; throw new Error("refused"); }, 500, (run) => timers.push(run));
    await new Promise((resolve) => setTimeout(resolve, 0));
    it.poke();
    timers.shift()!();
    assert.equal(runs, 2);
});
