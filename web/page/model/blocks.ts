/*
 * Large flows as blocks: steps of one layer and one template are a grid of boxes. Layers go from
 * left to right, the blocks of a layer stand one below the other.
 *
 * There are at most MOST blocks: small templates of a layer are put together by the beginning of
 * their steps' names, then whole layers, then neighbouring layers into bands.
 */
import type { Box, Links } from "./layout";

/** What blocks are made of: for each step its name, template and layer, and what it waits for. */
export interface BlockInput {
    count: number;
    nameOf(at: number): string;
    templateOf(at: number): string;
    layers: ArrayLike<number>;
    links: Links;
}

export interface Block {
    label: string;
    /** Numbers of its steps, in the order of the spec, row by row. */
    steps: number[];
    columns: number;
    rows: number;
    /** Place and size in units of the layout. */
    x: number;
    y: number;
    w: number;
    h: number;
}

export interface BlockEdge {
    from: number;
    to: number;
    /** How many edges of steps it stands for. */
    count: number;
}

export interface BlockLayout {
    width: number;
    height: number;
    boxes: Box[];
    blocks: Block[];
    edges: BlockEdge[];
    /** For each step the number of its block. */
    blockOf: Uint16Array;
}

export const MOST = 400;
const FEW = 8; /* steps of a template in a layer that stand alone only while there is room */
const BOX_W = 20;
const BOX_H = 3;
const PITCH_X = 21;
const PITCH_Y = 4;
const ASPECT = 1.7; /* width to height of the whole that is aimed at */
const UNIT_RATIO = 8.4 / 15; /* width to height of a unit on the screen */

type Group = { label: string; layer: number; steps: number[] };

/** The beginning of a name up to its first digit, without separators at its end. */
function stem(name: string): string {
    return name.replace(/\d.*$/s, "").replace(/[-_.[(]+$/, "");
}

/* `layers` has the layer, or the band of layers, that each step stands in. */
function grouped(count: number, layers: ArrayLike<number>, labelOf: (at: number) => string): Group[] {
    const found = new Map<number, Map<string, Group>>();
    const out: Group[] = [];
    for (let at = 0; at < count; at++) {
        const layer = layers[at]!;
        let here = found.get(layer);
        if (!here) found.set(layer, (here = new Map()));
        const label = labelOf(at);
        const group = here.get(label);
        if (group) {
            group.steps.push(at);
            continue;
        }
        out.push({ label, layer, steps: [at] });
        here.set(label, out[out.length - 1]!);
    }
    return out;
}

/* How often each template stands in each layer. */
function sizes(groups: readonly Group[]): Map<string, number> {
    return new Map(groups.map((group) => [`${group.layer} ${group.label}`, group.steps.length]));
}

/** The steps in groups, each of one layer or of one band of layers; at most `most`. */
export function groupsOf({ count, nameOf, templateOf, layers }: BlockInput, most = MOST): { groups: Group[]; bands: number[] } {
    let depth = 0;
    for (let at = 0; at < count; at++) depth = Math.max(depth, layers[at]! + 1);
    const own = Array.from({ length: depth }, (_, layer) => layer);
    const byTemplate = grouped(count, layers, (at) => templateOf(at) || stem(nameOf(at)));
    if (byTemplate.length <= most) return { groups: byTemplate, bands: own };
    const size = sizes(byTemplate);
    const byStem = grouped(count, layers, (at) => {
        const name = nameOf(at);
        const label = templateOf(at) || stem(name);
        return (size.get(`${layers[at]} ${label}`) ?? 0) < FEW ? `${stem(name) || "others"}…` : label;
    });
    if (byStem.length <= most) return { groups: byStem, bands: own };
    if (depth <= most) return { groups: grouped(count, layers, (at) => `layer ${layers[at]! + 1}`), bands: own };
    const width = Math.ceil(depth / most);
    const bands = own.map((layer) => Math.floor(layer / width));
    const banded = Uint32Array.from({ length: count }, (_, at) => bands[layers[at]!]!);
    return { groups: grouped(count, banded, (at) => `layers ${banded[at]! * width + 1} to ${Math.min(depth, (banded[at]! + 1) * width)}`), bands };
}

/* Columns of a grid that is at most twice as wide as high on the screen. */
function columnsOf(count: number): number {
    return Math.max(1, Math.floor(Math.sqrt((2 * count * PITCH_Y) / (PITCH_X * UNIT_RATIO))));
}

/** Lays a large flow out. */
export function layOutBlocks(input: BlockInput, most = MOST): BlockLayout {
    const { groups } = groupsOf(input, most);
    const blocks = groups.map((group): Block => {
        const columns = columnsOf(group.steps.length);
        const rows = Math.ceil(group.steps.length / columns);
        return { label: group.label, steps: group.steps, columns, rows, x: 0, y: 0, w: columns * PITCH_X - (PITCH_X - BOX_W), h: rows * PITCH_Y - (PITCH_Y - BOX_H) };
    });
    const stacks = new Map<number, number[]>();
    groups.forEach((group, at) => stacks.set(group.layer, [...(stacks.get(group.layer) ?? []), at]));
    const tallest = Math.max(1, ...blocks.map((block) => block.h));
    const gapY = Math.max(6, tallest * 0.12);
    const gapX = Math.max(8, 0.18 * Math.max(1, ...blocks.map((block) => block.w)));
    const size = arrange(blocks, [...stacks.keys()].sort((a, b) => a - b).map((layer) => stacks.get(layer)!), gapX, gapY);
    const blockOf = new Uint16Array(input.count);
    const boxes = new Array<Box>(input.count);
    blocks.forEach((block, number) => block.steps.forEach((step, at) => {
        blockOf[step] = number;
        boxes[step] = { step, x: block.x + (at % block.columns) * PITCH_X, y: block.y + Math.floor(at / block.columns) * PITCH_Y, w: BOX_W, h: BOX_H };
    }));
    return { ...size, boxes, blocks, edges: edgesOf(input.links, blockOf, blocks.length), blockOf };
}

/*
 * Sets the places of the blocks. The stacks of the layers go from left to right; where there are so
 * many that the whole would be a thin strip, they go on in a row below, as lines of a text do.
 */
function arrange(blocks: Block[], stacks: number[][], gapX: number, gapY: number): { width: number; height: number } {
    const heightOf = (stack: number[]) => stack.reduce((sum, at) => sum + blocks[at]!.h + gapY, -gapY);
    const widthOf = (stack: number[]) => Math.max(...stack.map((at) => blocks[at]!.w));
    const long = stacks.reduce((sum, stack) => sum + widthOf(stack) + gapX, 0);
    const high = Math.max(1, ...stacks.map(heightOf)) + 2 * gapY;
    const lines = Math.max(1, Math.round(Math.sqrt((long * UNIT_RATIO) / (ASPECT * high))));
    let [x, y, width] = [0, 0, 0];
    for (let from = 0; from < stacks.length;) {
        let until = from;
        for (let used = 0; until < stacks.length && (until === from || used + widthOf(stacks[until]!) <= long / lines); until++) used += widthOf(stacks[until]!) + gapX;
        const line = stacks.slice(from, until);
        const height = Math.max(...line.map(heightOf));
        x = 0;
        for (const stack of line) {
            let top = y + (height - heightOf(stack)) / 2;
            for (const at of stack) {
                Object.assign(blocks[at]!, { x: x + (widthOf(stack) - blocks[at]!.w) / 2, y: top });
                top += blocks[at]!.h + gapY;
            }
            x += widthOf(stack) + gapX;
        }
        width = Math.max(width, x - gapX);
        y += height + 2 * gapY;
        from = until;
    }
    return { width, height: Math.max(0, y - 2 * gapY) };
}

function edgesOf({ afterAt, after }: Links, blockOf: Uint16Array, count: number): BlockEdge[] {
    const found = new Map<number, BlockEdge>();
    for (let step = 0; step < blockOf.length; step++) {
        const to = blockOf[step]!;
        for (let i = afterAt[step]!; i < afterAt[step + 1]!; i++) {
            const from = blockOf[after[i]!]!;
            if (from === to) continue;
            const key = from * count + to;
            const edge = found.get(key);
            if (edge) edge.count++;
            else found.set(key, { from, to, count: 1 });
        }
    }
    return [...found.values()];
}

/** The step at a place of the layout; -1: none. */
export function stepAt(layout: BlockLayout, x: number, y: number): number {
    for (const block of layout.blocks) {
        if (x < block.x || x > block.x + block.w || y < block.y || y > block.y + block.h) continue;
        const at = Math.floor((y - block.y) / PITCH_Y) * block.columns + Math.min(block.columns - 1, Math.floor((x - block.x) / PITCH_X));
        return block.steps[at] ?? -1;
    }
    return -1;
}

/** The cells of a block within a part of the layout: numbers of columns and rows, the last ones excluded. */
export function cellsIn(block: Block, left: number, top: number, right: number, bottom: number): { left: number; top: number; right: number; bottom: number } {
    const clamp = (n: number, most: number) => Math.max(0, Math.min(most, n));
    return {
        left: clamp(Math.floor((left - block.x) / PITCH_X), block.columns), top: clamp(Math.floor((top - block.y) / PITCH_Y), block.rows),
        right: clamp(Math.ceil((right - block.x) / PITCH_X), block.columns), bottom: clamp(Math.ceil((bottom - block.y) / PITCH_Y), block.rows),
    };
}
