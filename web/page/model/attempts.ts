/* The attempts of steps, from …/jobflows/NAME/steps: asked for while a view shows them, again when a step has changed. */
import { ApiError, flowPath, getJson } from "../core/api";
import { parseTime } from "../core/format";
import { signal } from "../core/signal";

export interface Attempt {
    attempt: number;
    uid: string;
    phase: string;
    startMs: number;
    runningMs: number;
    endMs: number;
    reason: string;
    message: string;
    restarts: number;
    exitCodes: { task: string; codes: number[] }[];
    /** Pods whose logs are kept: name and uid. */
    logs: { pod: string; uid: string }[];
}

export interface StepRecord {
    jobs: string[];
    attempts: Attempt[];
    outputs: [string, string][];
    taken: string;
    /** The work that the step reuses; null: it ran itself. */
    cachedFrom: { flow: string; job: string; timeMs: number } | null;
    /** Why it runs although it may be reused, or why its result was not recorded. */
    reuse: string;
}

interface Item {
    name: string;
    jobs?: string[];
    attempts?: {
        attempt?: number;
        uid?: string;
        phase?: string;
        startTime?: string;
        runningTime?: string;
        endTime?: string;
        reason?: string;
        message?: string;
        restarts?: number;
        exitCodes?: Record<string, number[]>;
        logs?: Record<string, string>;
    }[];
    outputs?: Record<string, unknown>;
    chosen?: string;
    cachedFrom?: { flow?: string; job?: string; time?: string };
    reuse?: string;
}

/** Reads an entry of the list. The newest attempt comes first. */
export function recordOf(item: Item): StepRecord {
    const attempts = (item.attempts ?? []).map((attempt): Attempt => ({
        attempt: attempt.attempt ?? 1,
        uid: attempt.uid ?? "",
        phase: attempt.phase ?? "",
        startMs: parseTime(attempt.startTime),
        runningMs: parseTime(attempt.runningTime),
        endMs: parseTime(attempt.endTime),
        reason: attempt.reason ?? "",
        message: attempt.message ?? "",
        restarts: attempt.restarts ?? 0,
        exitCodes: Object.entries(attempt.exitCodes ?? {}).map(([task, codes]) => ({ task, codes })),
        logs: Object.entries(attempt.logs ?? {}).map(([pod, uid]) => ({ pod, uid })),
    }));
    const from = item.cachedFrom;
    const outputs = Object.entries(item.outputs ?? {}).map(([key, value]): [string, string] => [key, typeof value === "string" ? value : JSON.stringify(value)]);
    return { jobs: item.jobs ?? [], attempts: attempts.reverse(), outputs, taken: item.chosen ?? "", cachedFrom: from ? { flow: from.flow ?? "", job: from.job ?? "", timeMs: parseTime(from.time) } : null, reuse: item.reuse ?? "" };
}

const PAGE = 2000; /* entries of one request */
const PAUSE_MS = 1000;

export class AttemptsCache {
    readonly changed = signal(0);
    private records = new Map<string, StepRecord>();
    private askedAt = -1; /* version of the flow's states at the last request */
    private busy = false;

    constructor(private readonly ns: string, private readonly name: string) {}

    get(step: string): StepRecord | undefined {
        return this.records.get(step);
    }

    /** Asks again if states have changed since the last time. */
    want(version: number): void {
        if (this.busy || version === this.askedAt) return;
        this.busy = true;
        this.askedAt = version;
        void this.ask().finally(() => window.setTimeout(() => {
            this.busy = false;
            this.changed.value++;
        }, PAUSE_MS));
    }

    private async ask(): Promise<void> {
        try {
            const list = await getJson<{ items?: Item[] }>(`${flowPath(this.ns, this.name, "steps")}?limit=${PAGE}`);
            this.records = new Map((list.items ?? []).map((item) => [item.name, recordOf(item)]));
            this.changed.value++;
        } catch (error) {
            /* What is known stays. A server that is not there at the moment is asked again, after the pause. */
            if (error instanceof ApiError && [0, 429, 503].includes(error.code)) this.askedAt = -1;
        }
    }
}
