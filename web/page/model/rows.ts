/*
 * Rows of the list of flows, from the lines of the topic `flows`: the columns of the server's Table
 * are found by their names, so a column that is not there is left out.
 */
import { parseTime } from "../core/format";
import { phaseRank } from "../core/phase";
import type { Searchable } from "../core/filter";
import { TopicTable, type TopicRow, type TopicState } from "./topic_table";

export interface FlowRow {
    key: string;
    ns: string;
    name: string;
    phase: string;
    steps: number;
    done: number;
    failed: number;
    running: number;
    /** Milliseconds since the epoch; 0: not known. */
    created: number;
    started: number;
    ended: number;
    reason: string;
    /** What groups the runs of one flow: the label of the series, else the name. */
    series: string;
}

const SERIES = "flow.volcano.sh/series";
const text = (value: unknown) => (typeof value === "string" ? value : "");
const number = (value: unknown) => (typeof value === "number" ? value : 0);

/** Reads a row of the Table. `columns` are the names of its cells. */
export function flowRow(columns: readonly string[], row: TopicRow): FlowRow {
    const cell = (name: string) => row.cells[columns.indexOf(name)];
    const meta = row.object?.metadata ?? {};
    const slash = row.key.indexOf("/");
    const created = parseTime(meta.creationTimestamp);
    const name = meta.name ?? row.key.slice(slash + 1);
    return {
        key: row.key,
        ns: meta.namespace ?? row.key.slice(0, Math.max(0, slash)),
        name,
        phase: text(cell("Status")) || "Pending",
        steps: number(cell("Steps")),
        done: number(cell("Completed")),
        failed: number(cell("Failed")),
        running: number(cell("Running")),
        created,
        started: parseTime(text(cell("Started"))) || created,
        ended: parseTime(text(cell("Ended"))),
        reason: text(cell("Reason")),
        series: meta.labels?.[SERIES] ?? name,
    };
}

export const NO_ROWS: TopicState<FlowRow> = { columns: [], rows: new Map(), ready: false, waiting: "", error: "" };

/** The rows of the topic `flows`. */
export const flowTable = () => new TopicTable(flowRow);

export type FlowSort = "state" | "name" | "namespace" | "progress" | "started" | "took" | "reason";

const took = (row: FlowRow, now: number) => (row.ended || now) - row.started;
const byName = (a: FlowRow, b: FlowRow) => a.name.localeCompare(b.name) || a.ns.localeCompare(b.ns);

/** Orders of the list. That by state has what runs and what failed first, and then the newest. */
const ORDERS: Record<FlowSort, (a: FlowRow, b: FlowRow, now: number) => number> = {
    state: (a, b) => listRank(a) - listRank(b) || b.created - a.created || byName(a, b),
    name: byName,
    namespace: (a, b) => a.ns.localeCompare(b.ns) || byName(a, b),
    progress: (a, b) => a.done / (a.steps || 1) - b.done / (b.steps || 1) || byName(a, b),
    started: (a, b) => b.started - a.started || byName(a, b),
    took: (a, b, now) => took(b, now) - took(a, now) || byName(a, b),
    reason: (a, b) => a.reason.localeCompare(b.reason) || byName(a, b),
};

/* Running flows come before failed ones: they change. */
function listRank(row: FlowRow): number {
    return row.phase === "Running" ? -1 : phaseRank(row.phase);
}

export function sortFlows(rows: FlowRow[], by: FlowSort, down: boolean, now: number): FlowRow[] {
    const order = ORDERS[by];
    return rows.sort((a, b) => (down ? -order(a, b, now) : order(a, b, now)));
}

export const FLOW_FIELDS = { state: "text", ns: "text", reason: "text", failed: "number", steps: "number", took: "duration" } as const;

export function searchableFlow(row: FlowRow, now: number): Searchable {
    return {
        text: `${row.name} ${row.ns} ${row.phase} ${row.reason}`.toLowerCase(),
        fields: { state: row.phase, ns: row.ns, reason: row.reason, failed: row.failed, steps: row.steps, took: took(row, now) },
    };
}
