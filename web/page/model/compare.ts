/* Two runs of a flow, step by step: which steps are slower, newly failed, new or gone, and what that costs. */
import type { Step } from "./flow";

/** What a comparison knows of a step of one run. Durations are milliseconds; -1: not known, or it did not run. */
export interface RunStep {
    name: string;
    state: string;
    failed: boolean;
    waitedMs: number;
    ranMs: number;
    /** Only the time from its job's creation to its end is known, in whole seconds: `ranMs` is all of it. */
    whole: boolean;
    attempts: number;
}

/** What can be said of a step, what needs attention first. They are phases with signs of their own (core/phase.ts). */
export const CHANGES = ["Newly failed", "Slower", "Other end", "New", "Gone", "No longer failed", "Faster", "As before"] as const;
export type Change = (typeof CHANGES)[number];

export interface StepChange {
    name: string;
    change: Change;
    /** The step in the run before, and in the run after it; null: that run has no such step. */
    before: RunStep | null;
    after: RunStep | null;
    /** How much longer the step waited and ran than before; negative: how much less. */
    costMs: number;
}

export interface Totals {
    steps: number;
    failed: number;
    workMs: number;
    waitedMs: number;
    attempts: number;
    /** The work of some steps contains how long they waited. */
    whole: boolean;
}

const SHARE = 0.1; /* a difference counts from this share of the longer duration on … */
const LEAST_MS = 100; /* … and from this length on; */
const LEAST_WHOLE_MS = 1001; /* of times in whole seconds, from what rounding cannot make */

/** Reads a step of a run. `now` ends what is not over. */
export function runStep(step: Step, failed: boolean, now: number): RunStep {
    const whole = !step.startedMs && step.createdMs > 0 && step.endedMs > 0;
    return {
        name: step.name,
        state: step.state,
        failed,
        waitedMs: step.createdMs && step.startedMs ? Math.max(0, step.startedMs - step.createdMs) : -1,
        ranMs: whole ? Math.max(0, step.endedMs - step.createdMs) : step.startedMs ? Math.max(0, (step.endedMs || now) - step.startedMs) : -1,
        whole,
        attempts: step.attempts,
    };
}

const spent = (step: RunStep | null) => Math.max(0, step?.ranMs ?? 0) + Math.max(0, step?.waitedMs ?? 0);

function changeOf(before: RunStep | null, after: RunStep | null): Change {
    if (!before) return "New";
    if (!after) return "Gone";
    if (after.failed !== before.failed) return after.failed ? "Newly failed" : "No longer failed";
    if (after.state !== before.state) return "Other end";
    if (after.ranMs < 0 || before.ranMs < 0) return "As before";
    const whole = after.whole || before.whole;
    const [was, is] = whole ? [spent(before), spent(after)] : [before.ranMs, after.ranMs];
    const more = is - was;
    if (Math.abs(more) < Math.max(whole ? LEAST_WHOLE_MS : LEAST_MS, SHARE * Math.max(is, was))) return "As before";
    return more > 0 ? "Slower" : "Faster";
}

/** Joins the steps of two runs by name; the step whose time grew most comes first. */
export function joinRuns(before: readonly RunStep[], after: readonly RunStep[]): StepChange[] {
    const old = new Map(before.map((step) => [step.name, step]));
    const out: StepChange[] = [];
    const add = (name: string, was: RunStep | null, is: RunStep | null) => out.push({ name, change: changeOf(was, is), before: was, after: is, costMs: spent(is) - spent(was) });
    for (const step of after) {
        add(step.name, old.get(step.name) ?? null, step);
        old.delete(step.name);
    }
    for (const step of old.values()) add(step.name, step, null);
    return out.sort((a, b) => b.costMs - a.costMs || CHANGES.indexOf(a.change) - CHANGES.indexOf(b.change));
}

export function totalsOf(steps: readonly RunStep[]): Totals {
    const out: Totals = { steps: steps.length, failed: 0, workMs: 0, waitedMs: 0, attempts: 0, whole: false };
    for (const step of steps) {
        out.failed += step.failed ? 1 : 0;
        out.workMs += Math.max(0, step.ranMs);
        out.waitedMs += Math.max(0, step.waitedMs);
        out.attempts += step.attempts;
        out.whole ||= step.whole;
    }
    return out;
}

export function countsOf(changes: readonly StepChange[]): Map<Change, number> {
    const out = new Map<Change, number>();
    for (const { change } of changes) out.set(change, (out.get(change) ?? 0) + 1);
    return new Map(CHANGES.filter((change) => out.has(change)).map((change) => [change, out.get(change)!]));
}
