import assert from "node:assert/strict";
import { test } from "node:test";
import { layersOf, layOut, linksOf, place, reversed } from "./layout";

test("nodes stand where they want, or as near as their order and heights allow", () => {
    assert.deepEqual(place([0, 10, 20], [3, 3, 3], 1), [0, 10, 20]);
    assert.deepEqual(place([5, 5, 5], [3, 3, 3], 1), [1, 5, 9]);
    assert.deepEqual(place([], [], 1), []);
});

test("no two boxes overlap, and edges go from border to border to the right", () => {
    for (let seed = 1; seed <= 200; seed++) {
        let state = seed;
        const random = (n: number) => ((state = (state * 48271) % 2147483647) % n);
        const count = 1 + random(40);
        const edges = [];
        for (let to = 1; to < count; to++) for (let i = random(3); i > 0; i--) edges.push({ from: random(to), to, kind: "target" as const });
        const targets: number[][] = Array.from({ length: count }, () => []);
        for (const { from, to } of edges) targets[to]!.push(from);
        const links = linksOf(targets);
        assert.deepEqual(reversed(reversed(links)), linksOf(targets.map((list) => [...list].sort((a, b) => a - b))));
        const layers = layersOf(links);
        for (const { from, to } of edges) assert.ok(layers[from]! < layers[to]!);
        const layout = layOut({ layers, edges });
        assert.equal(layout.boxes.length, count);
        for (const a of layout.boxes) {
            assert.ok(a.x >= 0 && a.y >= -1e-9 && a.x + a.w <= layout.width && a.y + a.h <= layout.height + 1e-9);
            for (const b of layout.boxes) assert.ok(a === b || a.x !== b.x || Math.abs(a.y - b.y) >= a.h - 1e-9, `seed ${seed}`);
        }
        for (const edge of layout.edges) {
            const [from, to] = [layout.boxes[edge.from]!, layout.boxes[edge.to]!];
            assert.deepEqual(edge.points[0], [from.x + from.w, edge.points[0]![1]]);
            assert.equal(edge.points[edge.points.length - 1]![0], to.x);
            for (let i = 1; i < edge.points.length; i++) assert.ok(edge.points[i]![0] > edge.points[i - 1]![0]);
        }
    }
});
