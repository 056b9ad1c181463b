/* The runs of each series of flows: how long they took, and how they ended. */
import { isFlowOver } from "../core/phase";
import type { FlowRow } from "./rows";

/** One run in a sparkline. */
export interface PastRun {
    key: string;
    phase: string;
    failed: boolean;
    /** How long it took; of a run that is not over, until now. */
    tookMs: number;
}

export interface Series {
    /** The newest runs, the oldest of them first. */
    runs: PastRun[];
    lastMs: number;
    medianMs: number;
    failed: number;
}

const SHOWN = 20;

const idOf = (row: FlowRow) => `${row.ns}/${row.series}`;

function median(values: readonly number[]): number {
    const sorted = [...values].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/* Times are whole seconds. Of runs that began in one of them, the flow itself is the last: the others are records of its earlier runs. */
const inOrder = (a: FlowRow, b: FlowRow) => a.created - b.created || Number(a.name === a.series) - Number(b.name === b.series) || a.key.localeCompare(b.key);

/** The series that have two runs or more, by the keys of their rows. */
export function seriesOf(rows: Iterable<FlowRow>, now: number): Map<string, Series> {
    const groups = new Map<string, FlowRow[]>();
    for (const row of rows) {
        const group = groups.get(idOf(row));
        if (group) group.push(row);
        else groups.set(idOf(row), [row]);
    }
    const out = new Map<string, Series>();
    for (const group of groups.values()) {
        if (group.length < 2) continue;
        const newest = group.sort(inOrder).slice(-SHOWN);
        const runs = newest.map((row) => ({ key: row.key, phase: row.phase, failed: row.phase === "Failed", tookMs: row.started ? Math.max(0, (isFlowOver(row.phase) && row.ended ? row.ended : now) - row.started) : 0 }));
        const over = runs.filter((run) => isFlowOver(run.phase));
        const series = { runs, lastMs: over[over.length - 1]?.tookMs ?? 0, medianMs: over.length ? median(over.map((run) => run.tookMs)) : 0, failed: runs.filter((run) => run.failed).length };
        for (const row of group) out.set(row.key, series);
    }
    return out;
}
