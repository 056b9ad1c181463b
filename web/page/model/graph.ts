/*
 * The steps of a flow and what they wait for, in arrays with one value for each step: a hundred
 * thousand steps take a few megabytes. They come as columns from the gateway, or from the steps of a
 * plan.
 */
import { Columns } from "../core/columns";
import { layersOf, linksOf, type Links } from "./layout";

export interface Graph {
    count: number;
    /** The flow's name. */
    name: string;
    uid: string;
    generation: number;
    phase: string;
    names: string[];
    /** For each step the number of its template; NONE: it has none. */
    template: Uint32Array;
    templates: string[];
    layer: Uint32Array;
    /** ANY and CRITICAL. */
    flags: Uint8Array;
    /** States at the moment when the graph was made: indexes of `states`. */
    state: Uint8Array;
    states: string[];
    mark: Uint32Array;
    marks: string[];
    /** Expected durations in milliseconds; NONE: not known. */
    estimate: Uint32Array;
    links: Links;
    criticalPath: number[];
    layout: GivenLayout | null;
}

/** Positions of boxes and lines, computed by the gateway for a small flow. Boxes and ends of lines name their steps. */
export interface GivenLayout {
    width: number;
    height: number;
    boxes: { step: string; x: number; y: number; w: number; h: number }[];
    edges: { from: string; to: string; kind?: string; points: [number, number][] }[];
}

export const NONE = 0xffffffff;
export const ANY = 1;
export const CRITICAL = 2;

/** A step of a plan, or of a test. */
export interface PlainStep {
    name: string;
    template?: string;
    strategy?: string;
    after?: string[];
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map((one) => (typeof one === "string" ? one : "")) : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

function checkBelow(what: string, values: Uint32Array | Uint8Array, limit: number, none = false): void {
    for (const value of values) if (value >= limit && !(none && value === NONE)) throw new Error(`the answer cannot be read: ${what} ${value} does not exist`);
}

/** Reads the answer of …/jobflows/NAME/graph?part=steps. */
export function graphOf(bytes: ArrayBuffer): Graph {
    const columns = new Columns(bytes);
    const { header } = columns;
    const count = Number(header["count"]);
    if (!Number.isSafeInteger(count) || count < 0) throw new Error("the answer cannot be read: it does not say how many steps there are");
    const graph: Graph = {
        count,
        name: text(header["name"]),
        uid: text(header["uid"]),
        generation: Number(header["generation"] ?? 0),
        phase: text(header["phase"]),
        names: columns.texts("name", count),
        template: columns.u32("template", count),
        templates: columns.texts("templateName", -1),
        layer: columns.u32("layer", count),
        flags: columns.u8("flags", count),
        state: columns.u8("state", count),
        states: texts(header["states"]),
        mark: columns.u32("mark", count),
        marks: texts(header["marks"]),
        estimate: columns.u32("estimate", count),
        links: { afterAt: columns.u32("afterAt", count + 1), after: columns.u32("after", -1) },
        criticalPath: Array.isArray(header["criticalPath"]) ? header["criticalPath"].filter((at): at is number => Number.isInteger(at) && at >= 0 && at < count) : [],
        layout: (header["layout"] as GivenLayout | undefined) ?? null,
    };
    checkBelow("template", graph.template, graph.templates.length, true);
    checkBelow("state", graph.state, graph.states.length);
    checkBelow("mark", graph.mark, graph.marks.length);
    checkBelow("layer", graph.layer, Math.max(1, count));
    checkBelow("step", graph.links.after, count);
    const { afterAt, after } = graph.links;
    if (afterAt[0] !== 0 || afterAt[count] !== after.length) throw new Error("the answer cannot be read: the edges do not fill their section");
    for (let at = 0; at < count; at++) if (afterAt[at]! > afterAt[at + 1]!) throw new Error("the answer cannot be read: edges overlap");
    return graph;
}

/** Makes a graph of steps that are given one by one. Targets that are no steps are left out. */
export function graphOfSteps(steps: readonly PlainStep[]): Graph {
    const number = new Map(steps.map((step, at) => [step.name, at]));
    const templates = [...new Set(steps.flatMap((step) => (step.template ? [step.template] : [])))];
    const links = linksOf(steps.map((step) => (step.after ?? []).flatMap((name) => number.get(name) ?? [])));
    const count = steps.length;
    return {
        count,
        name: "", uid: "", generation: 0, phase: "",
        names: steps.map((step) => step.name),
        template: Uint32Array.from(steps, (step) => (step.template ? templates.indexOf(step.template) : NONE)),
        templates,
        layer: layersOf(links),
        flags: Uint8Array.from(steps, (step) => (step.strategy === "any" ? ANY : 0)),
        state: new Uint8Array(count), states: [""],
        mark: new Uint32Array(count), marks: [""],
        estimate: new Uint32Array(count).fill(NONE),
        links,
        criticalPath: [],
        layout: null,
    };
}
