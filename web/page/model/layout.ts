/*
 * Where the boxes of a graph stand. The gateway lays a flow out; this is used where it cannot
 * (igraph is not installed there). Layers go from left to right, because names are wide.
 *
 * Units: a box is 20 wide and 3 high, whatever the size on the screen.
 */

export interface Box {
    /** Number of the step. */
    step: number;
    x: number;
    y: number;
    w: number;
    h: number;
}

export interface Edge {
    from: number;
    to: number;
    kind: "target" | "any" | "probe";
    /** From the border of `from` to that of `to`, by way of the gaps between the boxes of other layers. */
    points: [number, number][];
}

export interface Layout {
    width: number;
    height: number;
    boxes: Box[];
    edges: Edge[];
}

export interface LayoutInput {
    /** For each step its layer: more than that of all it waits for. */
    layers: ArrayLike<number>;
    edges: { from: number; to: number; kind: Edge["kind"] }[];
}

const BOX_W = 20;
const BOX_H = 3;
const PITCH = 26;
const GAP = 1;
const SWEEPS = 8;

interface Node {
    step: number; /* -1: a waypoint of an edge that passes this layer */
    layer: number;
    y: number; /* of the middle */
    h: number;
    before: Node[];
    after: Node[];
}

/** What steps wait for, in compressed rows: the targets of step i are after[afterAt[i]] up to after[afterAt[i + 1]]. */
export interface Links {
    afterAt: Uint32Array;
    after: Uint32Array;
}

/** Packs the targets of each step. */
export function linksOf(targets: readonly (readonly number[])[]): Links {
    const afterAt = new Uint32Array(targets.length + 1);
    targets.forEach((list, at) => (afterAt[at + 1] = afterAt[at]! + list.length));
    return { afterAt, after: Uint32Array.from(targets.flat()) };
}

/** The same edges the other way round: for each step those that wait for it, in their order. */
export function reversed({ afterAt, after }: Links): Links {
    const count = afterAt.length - 1;
    const beforeAt = new Uint32Array(count + 1);
    for (const from of after) beforeAt[from + 1]!++;
    for (let at = 0; at < count; at++) beforeAt[at + 1]! += beforeAt[at]!;
    const before = new Uint32Array(after.length);
    const free = beforeAt.slice();
    for (let to = 0; to < count; to++) for (let i = afterAt[to]!; i < afterAt[to + 1]!; i++) before[free[after[i]!]!++] = to;
    return { afterAt: beforeAt, after: before };
}

/** The layer of each step: the longest way to it from a step that waits for none. Steps on a cycle get layer 0. */
export function layersOf(links: Links): Uint32Array {
    const count = links.afterAt.length - 1;
    const { afterAt: beforeAt, after: before } = reversed(links);
    const layers = new Uint32Array(count);
    const open = Uint32Array.from({ length: count }, (_, at) => links.afterAt[at + 1]! - links.afterAt[at]!);
    const ready = new Uint32Array(count);
    let n = 0;
    for (let at = 0; at < count; at++) if (open[at] === 0) ready[n++] = at;
    for (let i = 0; i < n; i++)
        for (let k = beforeAt[ready[i]!]!; k < beforeAt[ready[i]! + 1]!; k++) {
            const to = before[k]!;
            layers[to] = Math.max(layers[to]!, layers[ready[i]!]! + 1);
            if (--open[to]! === 0) ready[n++] = to;
        }
    for (let at = 0; at < count; at++) if (open[at]! > 0) layers[at] = 0;
    return layers;
}

const mean = (nodes: readonly Node[], of: (node: Node) => number) => nodes.reduce((sum, node) => sum + of(node), 0) / nodes.length;

/**
 * Moves the nodes of a layer as near to the wanted places as their order and heights allow: the
 * places with the least sum of squared distances (pool adjacent violators).
 */
export function place(wanted: readonly number[], heights: readonly number[], gap: number): number[] {
    const pools: { sum: number; n: number }[] = [];
    const offsets: number[] = [];
    let offset = 0;
    wanted.forEach((y, at) => {
        if (at > 0) offset += (heights[at - 1]! + heights[at]!) / 2 + gap;
        offsets.push(offset);
        pools.push({ sum: y - offset, n: 1 });
        for (;;) {
            const last = pools[pools.length - 1]!;
            const previous = pools[pools.length - 2];
            if (!previous || previous.sum / previous.n <= last.sum / last.n) break;
            pools.splice(-2, 2, { sum: previous.sum + last.sum, n: previous.n + last.n });
        }
    });
    const out: number[] = [];
    for (const pool of pools) for (let i = 0; i < pool.n; i++) out.push(pool.sum / pool.n + offsets[out.length]!);
    return out;
}

function nodesOf(input: LayoutInput): { layers: Node[][]; ways: Node[][] } {
    const own = Array.from(input.layers);
    const depth = Math.max(-1, ...own) + 1;
    const layers: Node[][] = Array.from({ length: depth }, () => []);
    const add = (step: number, layer: number, h: number): Node => {
        const node: Node = { step, layer, y: 0, h, before: [], after: [] };
        layers[layer]!.push(node);
        return node;
    };
    const steps = own.map((layer, step) => add(step, layer, BOX_H));
    const ways = input.edges.map((edge) => {
        const way = [steps[edge.from]!];
        for (let layer = input.layers[edge.from]! + 1; layer < input.layers[edge.to]!; layer++) way.push(add(-1, layer, 1));
        way.push(steps[edge.to]!);
        for (let at = 1; at < way.length; at++) {
            way[at - 1]!.after.push(way[at]!);
            way[at]!.before.push(way[at - 1]!);
        }
        return way;
    });
    return { layers, ways };
}

/* Orders each layer by the mean place of its neighbours, forwards and backwards. */
function order(layers: Node[][]): void {
    for (const layer of layers) layer.forEach((node, at) => (node.y = at));
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
        const forwards = sweep % 2 === 0;
        for (const layer of forwards ? layers : [...layers].reverse()) {
            const wish = new Map(layer.map((node) => {
                const near = forwards ? node.before : node.after;
                return [node, near.length ? mean(near, (other) => other.y) : node.y];
            }));
            layer.sort((a, b) => wish.get(a)! - wish.get(b)!);
            layer.forEach((node, at) => (node.y = at - (layer.length - 1) / 2));
        }
    }
}

function straighten(layers: Node[][]): void {
    for (const layer of layers) spread(layer, layer.map((node) => node.y * (BOX_H + GAP)));
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
        const forwards = sweep % 2 === 0;
        for (const layer of forwards ? layers : [...layers].reverse())
            spread(layer, layer.map((node) => {
                const near = forwards ? node.before : node.after;
                return near.length ? mean(near, (other) => other.y) : node.y;
            }));
    }
}

function spread(layer: Node[], wanted: number[]): void {
    const places = place(wanted, layer.map((node) => node.h), GAP);
    layer.forEach((node, at) => (node.y = places[at]!));
}

/** Lays a graph out. Edges go from a lower layer to a higher one. */
export function layOut(input: LayoutInput): Layout {
    const { layers, ways } = nodesOf(input);
    order(layers);
    straighten(layers);
    const nodes = layers.flat();
    const top = nodes.length ? Math.min(...nodes.map((node) => node.y - node.h / 2)) : 0;
    const bottom = nodes.length ? Math.max(...nodes.map((node) => node.y + node.h / 2)) : 0;
    const boxes = nodes.filter((node) => node.step >= 0)
        .map((node) => ({ step: node.step, x: node.layer * PITCH, y: node.y - top - BOX_H / 2, w: BOX_W, h: BOX_H }))
        .sort((a, b) => a.step - b.step);
    const edges = input.edges.map((edge, at): Edge => ({
        ...edge,
        points: ways[at]!.flatMap((node, i, way): [number, number][] => {
            const [x, y] = [node.layer * PITCH, node.y - top];
            if (i === 0) return [[x + BOX_W, y]];
            if (i === way.length - 1) return [[x, y]];
            return [[x, y], [x + BOX_W, y]];
        }),
    }));
    return { width: Math.max(0, (layers.length - 1) * PITCH + BOX_W), height: bottom - top, boxes, edges };
}
