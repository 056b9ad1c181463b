/* The bars of a step in the timeline: held by the flow, waiting for room, running; and those of earlier attempts. */
import { isStepOver, phaseOf, type PhaseClass } from "../core/phase";
import type { Attempt } from "./attempts";
import type { FlowModel, Step } from "./flow";

export interface Bar {
    kind: "held" | "pending" | "run" | "expected";
    cls: PhaseClass;
    from: number;
    to: number;
    attempt: number;
}

/** The bars of a step up to `now`. Times that are not known make no bar. */
export function barsOf(model: FlowModel, step: Step, earlier: readonly Attempt[], now: number): Bar[] {
    const out: Bar[] = [];
    const add = (kind: Bar["kind"], cls: PhaseClass, from: number, to: number, attempt: number) => {
        if (from > 0 && to >= from) out.push({ kind, cls, from, to, attempt });
    };
    const { cls } = phaseOf(step.state);
    const over = isStepOver(step.state);
    const end = step.endedMs || (over || (cls === "waiting" && model.isOver()) ? 0 : now);
    for (const attempt of [...earlier].reverse()) {
        if (attempt.attempt >= step.attempts) continue;
        if (attempt.runningMs) add("pending", "queued", attempt.startMs, attempt.runningMs, attempt.attempt);
        add("run", phaseOf(attempt.phase).cls, attempt.runningMs || attempt.startMs, attempt.endMs || attempt.startMs, attempt.attempt);
    }
    const made = step.createdMs || step.startedMs;
    const ready = model.readyMs(step);
    if (step.state !== "Skipped" && step.attempts <= 1) add("held", "waiting", ready, made || (cls === "waiting" || cls === "queued" ? end : 0), 0);
    if (step.createdMs) add("pending", "queued", step.createdMs, step.startedMs || (over ? step.endedMs : end), step.attempts);
    if (step.startedMs) add("run", over ? cls : cls === "queued" ? "queued" : "running", step.startedMs, end || step.startedMs, step.attempts);
    if (cls === "running" && step.estimateMs && step.startedMs + step.estimateMs > now) add("expected", "running", now, step.startedMs + step.estimateMs, step.attempts);
    return out;
}

const TICKS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, 3600e3, 7200e3, 14400e3, 21600e3, 43200e3, 86400e3];

/** The places of an axis over `span` milliseconds: multiples of a round step, at most `most`. */
export function ticksOf(span: number, most: number): number[] {
    let step = TICKS.find((tick) => span / tick <= most) ?? 86_400_000;
    while (span / step > most) step *= 2;
    const out = [];
    for (let at = 0; at <= span; at += step) out.push(at);
    return out;
}
