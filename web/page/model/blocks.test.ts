import assert from "node:assert/strict";
import { test } from "node:test";
import { cellsIn, layOutBlocks as layOut, MOST, stepAt, type BlockLayout } from "./blocks";
import { layersOf, linksOf } from "./layout";

type Pair = { from: number; to: number };

function layOutBlocks(steps: { name: string; template: string }[], pairs: Pair[], most = MOST): BlockLayout {
    const targets: number[][] = steps.map(() => []);
    for (const { from, to } of pairs) targets[to]!.push(from);
    const links = linksOf(targets);
    return layOut({ count: steps.length, nameOf: (at) => steps[at]!.name, templateOf: (at) => steps[at]!.template, layers: layersOf(links), links }, most);
}

let state = 7;
const random = (n: number) => ((state = (state * 48271) % 2147483647) % n);

function randomFlow(n: number, templates: number): { steps: { name: string; template: string }[]; pairs: Pair[] } {
    const steps = Array.from({ length: n }, (_, at) => ({ name: `${["load", "train", "eval"][random(3)]}-${at}`, template: templates ? `t${random(templates)}` : "" }));
    const pairs: Pair[] = [];
    for (let to = 1; to < n; to++) for (let k = random(4); k > 0; k--) pairs.push({ from: random(to), to });
    return { steps, pairs };
}

test("each step is in one block, no two boxes overlap, edges of blocks go to the right or to a line below", () => {
    for (let seed = 0; seed < 120; seed++) {
        const n = 1 + random(400);
        const { steps, pairs } = randomFlow(n, [0, 1, 3, 500][seed % 4]!);
        const most = [5, 40, MOST][seed % 3]!;
        const layout = layOutBlocks(steps, pairs, most);
        assert.ok(layout.blocks.length <= most, `${layout.blocks.length} blocks`);
        assert.deepEqual(layout.blocks.flatMap((block) => block.steps).sort((a, b) => a - b), steps.map((_, at) => at));
        assert.equal(layout.edges.reduce((sum, edge) => sum + edge.count, 0) <= pairs.length, true);
        for (const edge of layout.edges) {
            const [from, to] = [layout.blocks[edge.from]!, layout.blocks[edge.to]!];
            assert.ok(from.x + from.w < to.x || from.y + from.h < to.y, "to the right, or to a line below");
        }
        for (const [at, a] of layout.blocks.entries()) {
            assert.ok(a.x >= -1e-9 && a.y >= -1e-9 && a.x + a.w <= layout.width + 1e-9 && a.y + a.h <= layout.height + 1e-9, "inside");
            for (const b of layout.blocks.slice(at + 1)) assert.ok(a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y, "apart");
        }
        for (const box of layout.boxes) assert.equal(stepAt(layout, box.x + box.w / 2, box.y + box.h / 2), box.step);
    }
});

test("a hundred thousand steps of whatever shape make few blocks", () => {
    const n = 100_000;
    const shapes: [string, Pair[], (at: number) => string][] = [
        ["layered", Array.from({ length: n - 1000 }, (_, at) => ({ from: at, to: at + 1000 })), (at) => `t${at % 3}`],
        ["chain", Array.from({ length: n - 1 }, (_, at) => ({ from: at, to: at + 1 })), () => "t"],
        ["fan", Array.from({ length: n - 1 }, (_, at) => ({ from: 0, to: at + 1 })), (at) => `t${at}`],
        ["join", Array.from({ length: n - 1 }, (_, at) => ({ from: at, to: n - 1 })), () => ""],
        ["apart", [], (at) => `t${at % 7}`],
    ];
    for (const [name, pairs, template] of shapes) {
        const steps = Array.from({ length: n }, (_, at) => ({ name: `s-${at}`, template: template(at) }));
        const layout = layOutBlocks(steps, pairs);
        assert.ok(layout.blocks.length >= 1 && layout.blocks.length <= MOST, `${name}: ${layout.blocks.length} blocks`);
        assert.equal(layout.blocks.reduce((sum, block) => sum + block.steps.length, 0), n, name);
    }
});

test("the cells of a view are those that it touches", () => {
    const { blocks: [block] } = layOutBlocks(Array.from({ length: 100 }, (_, at) => ({ name: `s${at}`, template: "t" })), []);
    assert.deepEqual(cellsIn(block!, -1e9, -1e9, 1e9, 1e9), { left: 0, top: 0, right: block!.columns, bottom: block!.rows });
    assert.deepEqual(cellsIn(block!, block!.x + 22, block!.y + 5, block!.x + 23, block!.y + 6), { left: 1, top: 1, right: 2, bottom: 2 });
});
