/*
 * Phases of flows, steps, jobs and pods: the colour class and the sign of each.
 *
 * A class is a colour of page.css (--waiting and so on). A sign is a drawing of 16 by 16 units
 * whose path is stroked in ink over a disc of the colour, on the page and on its canvas alike.
 */

export const CLASSES = ["failed", "running", "queued", "waiting", "done", "skipped"] as const;
export type PhaseClass = (typeof CLASSES)[number];

export type SignName = "ring" | "bar" | "half" | "retry" | "pause" | "play" | "tick" | "cross" | "dash";

/** Paths of the signs. Those of `FILLED` are filled, the others stroked. The ring is the disc's edge alone. */
export const SIGN_PATHS: Record<SignName, string> = {
    ring: "",
    bar: "M4.5 8h7",
    half: "M8 3a5 5 0 0 1 0 10z",
    retry: "M11 6A3.6 3.6 0 1 0 11.6 9M11.6 3.6V6.4H8.8",
    pause: "M6.2 5v6M9.8 5v6",
    play: "M6.2 4.6v6.8L12 8z",
    tick: "M4.6 8.3 7 10.7l4.4-5.2",
    cross: "M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2",
    dash: "M5 8h6",
};
export const FILLED: ReadonlySet<SignName> = new Set(["half", "play"]);

const PHASES: Record<string, [SignName, PhaseClass]> = {
    Waiting: ["ring", "waiting"],
    Blocked: ["bar", "queued"],
    Pending: ["half", "queued"],
    Retrying: ["retry", "queued"],
    Aborting: ["pause", "queued"],
    Aborted: ["pause", "queued"],
    Suspended: ["pause", "queued"],
    Running: ["play", "running"],
    Restarting: ["play", "running"],
    Completing: ["play", "running"],
    Completed: ["tick", "done"],
    Cached: ["tick", "done"],
    Succeed: ["tick", "done"],
    Succeeded: ["tick", "done"],
    Failed: ["cross", "failed"],
    Terminating: ["cross", "failed"],
    Terminated: ["cross", "failed"],
    Skipped: ["dash", "skipped"],
    Stopped: ["pause", "skipped"],
    "Not run": ["ring", "waiting"],
    /* What a comparison of two runs says of a step (model/compare.ts). */
    "Newly failed": ["cross", "failed"],
    Slower: ["half", "queued"],
    "Other end": ["retry", "queued"],
    New: ["bar", "queued"],
    Gone: ["dash", "skipped"],
    "No longer failed": ["tick", "done"],
    Faster: ["play", "done"],
    "As before": ["ring", "waiting"],
};

/** The sign and class of a phase. One that the page does not know is shown with its name and a neutral sign. */
export function phaseOf(name: string): { sign: SignName; cls: PhaseClass } {
    const [sign, cls] = Object.hasOwn(PHASES, name) ? PHASES[name]! : (["ring", "waiting"] as const);
    return { sign, cls };
}

/** Whether a flow with this phase is over. */
export function isFlowOver(phase: string): boolean {
    return phase === "Succeed" || phase === "Failed";
}

/** Whether a step with this state will not change by itself. */
export function isStepOver(state: string): boolean {
    const { cls } = phaseOf(state);
    return state === "Not run" || (state !== "Terminating" && (cls === "done" || cls === "failed" || cls === "skipped"));
}

/** Order in which states are listed and sorted: what needs attention first. */
export function phaseRank(name: string): number {
    return CLASSES.indexOf(phaseOf(name).cls);
}
