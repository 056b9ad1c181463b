/*
 * What the page knows of one flow: its graph, asked for once for each version of the spec, and the
 * states of its steps, which the stream sends as they change.
 */
import type { Searchable } from "../core/filter";
import { isFlowOver, phaseOf, type PhaseClass } from "../core/phase";
import { layOutBlocks, type BlockLayout } from "./blocks";
import { ANY, CRITICAL, graphOf, graphOfSteps, NONE, type Graph, type PlainStep } from "./graph";
import { layOut, reversed, type Edge, type Layout, type Links } from "./layout";
import { Vertices } from "./vertices";

/* What the stream tells of few steps. */
interface Words {
    restarts: number;
    progress: string;
    reason: string;
    message: string;
    job: string;
}

const NO_WORDS: Words = { restarts: 0, progress: "", reason: "", message: "", job: "" };

/* The states of all steps: one value for each in arrays, and words for few. */
class States {
    readonly names: string[] = [];
    readonly state: Uint8Array;
    readonly attempts: Uint16Array;
    readonly created: Float64Array;
    readonly started: Float64Array;
    readonly ended: Float64Array;
    readonly version: Uint32Array;
    readonly words = new Map<number, Words>();

    constructor(count: number, version = 1) {
        this.state = new Uint8Array(count);
        this.attempts = new Uint16Array(count);
        this.created = new Float64Array(count);
        this.started = new Float64Array(count);
        this.ended = new Float64Array(count);
        this.version = new Uint32Array(count).fill(version);
    }

    /** The number of a state's name. */
    numberOf(name: string): number {
        const found = this.names.indexOf(name);
        return found >= 0 ? found : this.names.push(name) - 1;
    }
}

/** A step. Times are milliseconds since the epoch; 0: not known or not yet. It reads the arrays of its flow. */
export class Step {
    constructor(readonly at: number, private readonly graph: Graph, private readonly states: States, private readonly around: { before: Links }) {}

    get name(): string { return this.graph.names[this.at]!; }
    get template(): string { return this.graph.templates[this.graph.template[this.at]!] ?? ""; }
    get layer(): number { return this.graph.layer[this.at]!; }
    get strategy(): string { return this.graph.flags[this.at]! & ANY ? "any" : "all"; }
    get marks(): string { return this.graph.marks[this.graph.mark[this.at]!] ?? ""; }
    get critical(): boolean { return (this.graph.flags[this.at]! & CRITICAL) !== 0; }
    get estimateMs(): number { const ms = this.graph.estimate[this.at]!; return ms === NONE ? 0 : ms; }
    /** Numbers of the steps it waits for, and of those that wait for it. */
    get after(): number[] { return linked(this.graph.links, this.at); }
    get before(): number[] { return linked(this.around.before, this.at); }
    get state(): string { return this.states.names[this.states.state[this.at]!] ?? ""; }
    get attempts(): number { return this.states.attempts[this.at]!; }
    get createdMs(): number { return this.states.created[this.at]!; }
    get startedMs(): number { return this.states.started[this.at]!; }
    get endedMs(): number { return this.states.ended[this.at]!; }
    /** Grows with each change, so that what was asked about the step can be asked again. */
    get version(): number { return this.states.version[this.at]!; }
    get restarts(): number { return this.words.restarts; }
    get progress(): string { return this.words.progress; }
    get reason(): string { return this.words.reason; }
    get message(): string { return this.words.message; }
    /** The name of its newest job; "" when it has none. */
    get job(): string { return this.words.job || (this.attempts > 0 && !this.loops && this.state !== "Cached" ? `${this.graph.name}-${this.name}` : ""); }
    get loops(): boolean { return /(^|, )(for |until)/.test(this.marks); }

    private get words(): Words { return this.states.words.get(this.at) ?? NO_WORDS; }
}

function linked({ afterAt, after }: Links, at: number): number[] {
    return Array.from(after.subarray(afterAt[at]!, afterAt[at + 1]!));
}

export interface FlowHead {
    phase: string;
    reason: string;
    message: string;
    /** Why it does not go on, as a sentence: held, suspended. */
    remark: string;
    startedMs: number;
    endedMs: number;
    resourceVersion: string;
    suspended: boolean;
}

/** The members of a step in a line of the topic `flow`. */
interface StepLine {
    name: string;
    state?: string;
    attempts?: number;
    restarts?: number;
    createdMs?: number;
    startedMs?: number;
    endedMs?: number;
    /** How long it ran, of a step that is over. */
    ranMs?: number;
    progress?: string;
    reason?: string;
    message?: string;
    job?: string;
}

/** A line of the topic `flow` with states: …/jobflows/NAME/progress says what its members mean. */
interface StatesLine {
    phases: string[];
    from?: number;
    i?: number[];
    phase?: number[];
    attempt?: number[];
    made?: number[];
    run?: number[];
    end?: number[];
    words?: { i: number; reason?: string; message?: string; restarts?: number; progress?: string }[];
}

/** Steps of the largest flow that is laid out step by step; larger ones are laid out by blocks. */
export const GRAPH_MAX = 2000;

const EMPTY_HEAD: FlowHead = { phase: "", reason: "", message: "", remark: "", startedMs: 0, endedMs: 0, resourceVersion: "", suspended: false };

export class FlowModel {
    uid = "";
    generation = 0;
    head: FlowHead = EMPTY_HEAD;
    steps: Step[] = [];
    layout: Layout = { width: 0, height: 0, boxes: [], edges: [] };
    /** Of a large flow: its steps as blocks. */
    blocks: BlockLayout | null = null;
    criticalPath: string[] = [];
    private criticalEdges = new Set<string>();
    /** The graph is there. */
    ready = false;
    gone = false;
    /** The stream has told the states of all steps. */
    told = false;
    /** The graph is there and was told the times of all steps. It stays so while a connection that broke off begins anew. */
    complete = false;
    /** The server knows no such flow. */
    missing = false;
    waiting = "";
    error = "";
    private graph: Graph | null = null;
    private states = new States(0);
    private vertices = new Vertices(0, []);
    private baseMs = 0;
    private phases: string[] = [];
    private pending: StatesLine[] = []; /* lines about a graph that is not there yet */
    private byName: Map<string, number> | null = null; /* made when the first step is looked up */
    private lines = new Map<string, StepLine>(); /* newest line of each step that the graph, which may not be there yet, does not have */

    step(name: string): Step | undefined {
        if (!name) return undefined;
        this.byName ??= new Map(this.steps.map((step) => [step.name, step.at]));
        return this.steps[this.byName.get(name) ?? -1];
    }

    /** Takes a line of the topic. Returns true when the graph must be asked for. */
    take(line: Record<string, unknown>): boolean {
        this.waiting = typeof line["waiting"] === "string" ? line["waiting"] : "";
        if (typeof line["error"] === "string") this.error = line["error"];
        if (line["gone"]) this.gone = true;
        if (line["reset"]) {
            this.uid = String(line["uid"] ?? "");
            this.generation = Number(line["generation"] ?? 0);
            this.gone = false;
            this.error = "";
            this.lines.clear();
            this.told = false;
            this.baseMs = Number(line["base"] ?? 0);
            this.phases = [];
            this.pending = [];
            this.vertices = new Vertices(Number(line["count"] ?? 0), (line["loops"] as [number, number][] | undefined) ?? []);
        }
        if (line["ready"] === true) this.told = true;
        const flow = line["flow"] as Partial<FlowHead> | undefined;
        if (flow) this.head = { ...EMPTY_HEAD, ...pick(flow, ["phase", "reason", "message", "remark", "startedMs", "endedMs", "resourceVersion", "suspended"]) };
        for (const step of (line["steps"] as StepLine[] | undefined) ?? []) {
            const known = this.step(step.name);
            if (known) applyLine(this.states, known.at, step);
            else this.lines.set(step.name, step);
        }
        if (line["phases"]) this.phases = line["phases"] as string[];
        if (line["phase"] || line["words"]) {
            const states = { ...(line as unknown as StatesLine), phases: this.phases };
            if (this.fits()) this.takeStates(states);
            else this.pending.push(states);
        }
        this.complete ||= this.told && this.fits();
        return line["reset"] === true;
    }

    /** Takes the answer of …/jobflows/NAME/graph?part=steps. */
    takeColumns(bytes: ArrayBuffer): void {
        this.takeGraph(graphOf(bytes));
    }

    /** Takes steps that are given one by one. */
    takeSteps(steps: readonly PlainStep[]): void {
        this.takeGraph(graphOfSteps(steps));
    }

    /** Whether the graph is that of the flow that the stream tells of. */
    fits(): boolean {
        return this.graph !== null && this.graph.uid === this.uid && this.graph.generation === this.generation;
    }

    /* States of lines since the last reset are newer than those of the graph. */
    private takeGraph(graph: Graph): void {
        const states = new States(graph.count, (this.states.version[0] ?? 0) + 1_000_000);
        const numbers = graph.states.map((name) => states.numberOf(name || "Waiting"));
        for (let at = 0; at < graph.count; at++) states.state[at] = numbers[graph.state[at]!]!;
        this.graph = graph;
        this.states = states;
        let before: Links | null = null;
        const around = { get before() { return (before ??= reversed(graph.links)); } };
        this.steps = Array.from({ length: graph.count }, (_, at) => new Step(at, graph, states, around));
        this.byName = null;
        this.blocks = graph.count > GRAPH_MAX
            ? layOutBlocks({ count: graph.count, nameOf: (at) => graph.names[at]!, templateOf: (at) => graph.templates[graph.template[at]!] ?? "", layers: graph.layer, links: graph.links })
            : null;
        this.layout = this.blocks ? { ...this.blocks, edges: [] } : this.layoutOf(graph);
        this.criticalPath = graph.criticalPath.map((at) => graph.names[at]!);
        this.criticalEdges = new Set(graph.criticalPath.slice(1).map((step, at) => `${graph.criticalPath[at]!} ${step}`));
        for (const line of this.lines.values()) {
            const step = this.step(line.name);
            if (step) applyLine(states, step.at, line);
        }
        this.lines.clear();
        if (this.fits()) for (const line of this.pending.splice(0)) this.takeStates(line);
        if (!this.head.phase) this.head = { ...this.head, phase: graph.phase };
        this.ready = true;
        this.complete ||= this.told && this.fits();
        this.missing = false;
        this.error = "";
    }

    private takeStates(line: StatesLine): void {
        const { states, vertices } = this;
        const numbers = line.phases.map((phase) => states.numberOf(phase || "Waiting"));
        const ms = (units: number) => (units > 0 ? this.baseMs + 10 * units : 0);
        const loops = new Set<number>();
        const n = line.phase?.length ?? 0;
        for (let k = 0; k < n; k++) {
            const vertex = line.i ? line.i[k]! : line.from! + k;
            const at = vertices.stepOf(vertex);
            if (!(at < states.state.length)) continue;
            if (!vertices.isStep(vertex)) {
                vertices.setPhase(vertex, line.phases[line.phase![k]!] ?? "");
                loops.add(at);
                continue;
            }
            states.state[at] = numbers[line.phase![k]!] ?? 0;
            states.attempts[at] = line.attempt![k]!;
            states.created[at] = ms(line.made![k]!);
            states.started[at] = ms(line.run![k]!);
            states.ended[at] = ms(line.end![k]!);
            states.version[at]!++;
        }
        for (const words of line.words ?? []) {
            const at = vertices.stepOf(words.i);
            if (!vertices.isStep(words.i) || !(at < states.state.length)) continue;
            const kept = states.words.get(at) ?? NO_WORDS;
            states.words.set(at, { ...kept, restarts: words.restarts ?? 0, progress: words.progress ?? kept.progress, reason: words.reason ?? "", message: words.message ?? "" });
            states.version[at]!++;
        }
        for (const at of loops) {
            const step = this.steps[at]!;
            states.words.set(at, { ...(states.words.get(at) ?? NO_WORDS), progress: vertices.progress(at, /(^|, )for \S+\.\S/.test(step.marks)) });
            states.version[at]!++;
        }
    }

    private layoutOf(graph: Graph): Layout {
        const kindOf = (to: number): Edge["kind"] => (graph.flags[to]! & ANY ? "any" : "target");
        const number = (name: string) => this.step(name)?.at ?? -1;
        const given = graph.layout;
        if (given && given.boxes.length === graph.count && given.boxes.every((box) => number(box.step) >= 0)) {
            const known = (kind: string | undefined, to: number) => (kind === "any" || kind === "probe" || kind === "target" ? kind : kindOf(to));
            const middles = new Map(given.boxes.map((box) => [box.step, box.y + box.h / 2]));
            return {
                width: given.width,
                height: given.height,
                boxes: given.boxes.map(({ step, x, y, w, h }) => ({ step: number(step), x, y, w, h })).sort((a, b) => a.step - b.step),
                edges: given.edges.map((edge) => ({ from: number(edge.from), to: number(edge.to), points: shifted(edge.points, middles.get(edge.from)), kind: known(edge.kind, number(edge.to)) }))
                    .filter((edge) => edge.from >= 0 && edge.to >= 0 && edge.points.length >= 2),
            };
        }
        const edges = this.steps.flatMap((step) => step.after.map((from) => ({ from, to: step.at, kind: kindOf(step.at) })));
        return layOut({ layers: graph.layer, edges: edges.filter((edge) => graph.layer[edge.from]! < graph.layer[edge.to]!) });
    }

    /** Whether the critical path goes along this edge. */
    isCritical(edge: { from: number; to: number }): boolean {
        return this.criticalEdges.has(`${edge.from} ${edge.to}`);
    }

    isOver(): boolean {
        return isFlowOver(this.head.phase);
    }

    /** How many steps are in each state. */
    countsByState(): Map<string, number> {
        const counts = new Uint32Array(this.states.names.length);
        for (const state of this.states.state) counts[state]!++;
        return new Map(this.states.names.flatMap((name, at) => (counts[at] ? [[name, counts[at]!]] : [])));
    }

    counts(): Partial<Record<PhaseClass, number>> {
        const out: Partial<Record<PhaseClass, number>> = {};
        for (const [state, n] of this.countsByState()) {
            const { cls } = phaseOf(state);
            out[cls] = (out[cls] ?? 0) + n;
        }
        return out;
    }

    /** The failed steps, the first failure first. */
    failures(): Step[] {
        const failed = this.states.names.map((name) => phaseOf(name).cls === "failed");
        return this.steps.filter((step) => failed[this.states.state[step.at]!]).sort((a, b) => (a.endedMs || Infinity) - (b.endedMs || Infinity) || a.at - b.at);
    }

    /** When the step's dependencies were met, as far as the times of its targets tell; 0: not known. */
    readyMs(step: Step): number {
        const { after } = step;
        const ends = after.map((at) => this.steps[at]!.endedMs);
        if (after.length === 0) return this.head.startedMs;
        if (step.strategy === "any") {
            const known = ends.filter((end) => end > 0);
            return known.length ? Math.min(...known) : 0;
        }
        if (!ends.every((end, i) => end > 0 || this.steps[after[i]!]!.state === "Skipped")) return 0;
        return ends.reduce((last, end) => Math.max(last, end), 0);
    }
}

function pick<T extends object>(from: Partial<T>, names: (keyof T)[]): Partial<T> {
    const out: Partial<T> = {};
    for (const name of names) if (from[name] !== undefined && from[name] !== null) out[name] = from[name]!;
    return out;
}

function applyLine(states: States, at: number, line: StepLine): void {
    const ended = line.endedMs ?? 0;
    states.state[at] = states.numberOf(line.state ?? "Waiting");
    states.attempts[at] = line.attempts ?? 0;
    states.created[at] = line.createdMs ?? 0;
    states.started[at] = line.startedMs ?? (ended && line.ranMs !== undefined ? ended - line.ranMs : 0);
    states.ended[at] = ended;
    states.version[at]!++;
    const job = line.job ?? states.words.get(at)?.job ?? "";
    const words = { restarts: line.restarts ?? 0, progress: line.progress ?? "", reason: line.reason ?? "", message: line.message ?? "", job };
    if (words.restarts || words.progress || words.reason || words.message || job) states.words.set(at, words);
    else states.words.delete(at);
}

/* The points of an edge, moved so that it begins at the middle of its box: the gateway counts in whole rows. */
function shifted(points: [number, number][], middle = points[0]?.[1] ?? 0): [number, number][] {
    const by = middle - (points[0]?.[1] ?? 0);
    return points.map(([x, y]) => [x, y + by]);
}

export const STEP_FIELDS = { state: "text", template: "text", attempt: "number", took: "duration", message: "text" } as const;

/** What the search of a flow sees of a step. */
export function searchableStep(step: Step, now: number): Searchable {
    return {
        text: `${step.name} ${step.template} ${step.state} ${step.reason} ${step.message}`.toLowerCase(),
        fields: {
            state: step.state,
            template: step.template,
            attempt: step.attempts || undefined,
            took: step.startedMs ? (step.endedMs || now) - step.startedMs : undefined,
            message: step.message,
        },
    };
}
