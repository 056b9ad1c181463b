/*
 * What can be done with a flow: when each action is offered, what it will do, as a sentence, and
 * the request that asks for it. Nothing here sends anything.
 */
import { plain } from "../core/marked";
import { shellWord } from "../core/shell";
import { T } from "../core/text";
import { phaseOf } from "../core/phase";

export const FLOW_ACTIONS = ["suspend", "resume", "abort", "retry", "again", "delete"] as const;
export type FlowAction = (typeof FLOW_ACTIONS)[number] | "from" | "only";

/** The flow at the moment when an action is looked at. */
export interface FlowFacts {
    ns: string;
    name: string;
    uid: string;
    resourceVersion: string;
    phase: string;
    suspended: boolean;
    /** The state of each step, by its name. */
    states: ReadonlyMap<string, string>;
}

export interface ActionRequest {
    method: "POST" | "PATCH" | "DELETE";
    /** Below the path of the flow; "": the flow itself. `list`: the collection of flows. */
    list?: boolean;
    type?: string;
    body: Record<string, unknown>;
}

const MERGE = "application/merge-patch+json";
const RETRY = "volcano.sh/jobFlowRetry";
const ABORT = "volcano.sh/jobFlowAbort";

const isOver = (facts: FlowFacts) => facts.phase === "Succeed" || facts.phase === "Failed";

/** The steps whose states fit, in the order of the spec. */
export function stepsIn(facts: FlowFacts, fits: (state: string) => boolean): string[] {
    return [...facts.states].filter(([, state]) => fits(state)).map(([name]) => name);
}

const atWork = (facts: FlowFacts) => stepsIn(facts, (state) => ["running", "queued"].includes(phaseOf(state).cls) && state !== "Blocked");
const failed = (facts: FlowFacts) => stepsIn(facts, (state) => phaseOf(state).cls === "failed");
const done = (facts: FlowFacts) => stepsIn(facts, (state) => phaseOf(state).cls === "done");
const notRun = (facts: FlowFacts) => stepsIn(facts, (state) => state === "Waiting" || state === "Blocked" || state === "Not run");

/** Whether the action makes sense in this state of the flow. */
export function isOffered(action: FlowAction, facts: FlowFacts): boolean {
    switch (action) {
        case "suspend":
            return !isOver(facts) && !facts.suspended;
        case "resume":
            return !isOver(facts) && facts.suspended;
        case "abort":
            return !isOver(facts) || (facts.phase === "Failed" && atWork(facts).length > 0);
        case "retry":
            return facts.phase === "Failed";
        case "from":
        case "only":
            return isOver(facts);
        default:
            return true;
    }
}

/** What will happen, in a sentence. `fates`: what a rerun does to each step, as far as it is known. */
export function sentenceOf(action: FlowAction, facts: FlowFacts, fates: readonly [string, string][] = []): string {
    const name = plain(facts.name);
    const n = { work: atWork(facts).length, failed: failed(facts).length, done: done(facts).length, rest: notRun(facts).length, all: facts.states.size };
    switch (action) {
        case "suspend":
            return T.willSuspend(name, n.work, n.rest);
        case "resume":
            return T.willResume(name, n.rest);
        case "abort":
            return isOver(facts) ? T.willAbortRest(n.work) : T.willAbort(name, n.work, n.rest);
        case "again":
            return T.willCopy(name, n.all);
        case "delete":
            return isOver(facts) ? T.willDelete(name) : T.willDeleteUnfinished(name, n.work, n.rest);
        default: {
            const again = fates.filter(([, fate]) => /runs? again/.test(fate)).length;
            const perhaps = fates.filter(([, fate]) => /may run/.test(fate)).length;
            return fates.length ? T.willRerun(again, perhaps, fates.length - again - perhaps) : T.willRetry(n.failed, n.rest, n.done);
        }
    }
}

/** The steps that a retry begins with. */
export function retried(facts: FlowFacts): string[] {
    return failed(facts);
}

/** The request of an action. `value` is made once for a dialog, so that a lost answer makes nothing happen twice. */
export function requestOf(action: FlowAction, facts: FlowFacts, value: string, steps: readonly string[] = []): ActionRequest {
    const meta = { uid: facts.uid };
    const patch = (body: Record<string, unknown>): ActionRequest => ({ method: "PATCH", type: MERGE, body });
    const rerun = (from: string | null, only: string | null) => patch({
        metadata: {
            ...meta, resourceVersion: facts.resourceVersion,
            annotations: { [RETRY]: value, [`${RETRY}From`]: from, [`${RETRY}Only`]: only, [`${RETRY}Edited`]: null, [ABORT]: null },
        },
    });
    switch (action) {
        case "suspend":
            return patch({ metadata: meta, spec: { suspend: true } });
        case "resume":
            return patch({ metadata: meta, spec: { suspend: null } });
        case "abort":
            return patch({ metadata: { ...meta, annotations: { [ABORT]: value } } });
        case "from":
            return rerun(steps.join(","), null);
        case "only":
            return rerun(null, steps.join(","));
        case "delete":
            return {
                method: "DELETE",
                body: {
                    kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Background", preconditions: { uid: facts.uid },
                    ...(isOver(facts) ? {} : { gracePeriodSeconds: 0 }),
                },
            };
        default:
            return rerun(null, null);
    }
}

/** The same as a command. */
export function commandOf(action: FlowAction, facts: FlowFacts, steps: readonly string[] = []): string {
    const flow = `${shellWord(`jf/${facts.name}`)}${facts.ns === "default" ? "" : ` -n ${shellWord(facts.ns)}`}`;
    const list = shellWord(steps.join(","));
    const commands: Record<FlowAction, string> = {
        suspend: `jobflow suspend ${flow}`,
        resume: `jobflow resume ${flow}`,
        abort: `jobflow abort ${flow}`,
        retry: `jobflow retry ${flow}`,
        from: `jobflow rerun ${flow} --from ${list}`,
        only: `jobflow rerun ${flow} --only ${list}`,
        again: `jobflow get ${flow} -o yaml`,
        delete: `jobflow delete ${flow}${isOver(facts) ? "" : " --force"}`,
    };
    return commands[action];
}

/** Whether the stream has shown that the action has begun. `before`: the flow when it was asked for. */
export function isSeen(action: FlowAction, before: FlowFacts, now: FlowFacts & { gone: boolean }): boolean {
    if (now.gone || (now.uid !== "" && now.uid !== before.uid)) return true;
    if (action === "suspend") return now.suspended;
    if (action === "resume") return !now.suspended;
    if (action === "abort") return isOver(now) || atWork(now).length < atWork(before).length;
    return Number(now.resourceVersion) > Number(before.resourceVersion);
}

/** Lines of two columns, such as "train   runs again". */
export function fatesOf(text: string): [string, string][] {
    return text.split("\n").slice(1).flatMap((line): [string, string][] => {
        const found = /^(\S+)\s{2,}(\S.*?)\s*$/.exec(line);
        return found ? [[found[1]!, found[2]!]] : [];
    });
}

interface FlowDocument {
    apiVersion?: string;
    kind?: string;
    metadata?: { name?: string; generateName?: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
    spec?: Record<string, unknown> & { parameters?: { name: string; value?: unknown; default?: unknown; description?: string }[] };
}

const SERIES = "flow.volcano.sh/series";
/** Annotations that ask a controller for something, or that it has written. */
const NOT_COPIED = /^(?:volcano\.sh\/jobFlow|flow\.volcano\.sh\/record|kubectl\.kubernetes\.io\/last-applied)/;

/** The name of a flow's series. */
export function seriesOf(document: FlowDocument): string {
    const meta = document.metadata ?? {};
    return meta.labels?.[SERIES] ?? meta.generateName?.replace(/-+$/, "") ?? meta.name ?? "flow";
}

/** A copy of a flow that runs anew: another name, the label of its series, the values of parameters. */
export function copyOf(document: FlowDocument, name: string, values: ReadonlyMap<string, string>): FlowDocument {
    const meta = document.metadata ?? {};
    const annotations = Object.fromEntries(Object.entries(meta.annotations ?? {}).filter(([key]) => !NOT_COPIED.test(key)));
    const { suspend: _, ...spec } = document.spec ?? {};
    const parameters = spec.parameters?.map((parameter) => (values.has(parameter.name) ? { ...parameter, value: values.get(parameter.name) } : parameter));
    return {
        apiVersion: document.apiVersion ?? "flow.volcano.sh/v1alpha1",
        kind: "JobFlow",
        metadata: { name, ...(meta.namespace ? { namespace: meta.namespace } : {}), labels: { ...meta.labels, [SERIES]: seriesOf(document) }, ...(Object.keys(annotations).length ? { annotations } : {}) },
        spec: { ...spec, ...(parameters ? { parameters } : {}) },
    };
}

/** Five letters and digits that Kubernetes uses for made names. `random`: bytes. */
export function suffix(random: Uint8Array): string {
    const letters = "bcdfghjklmnpqrstvwxz2456789";
    return [...random.slice(0, 5)].map((byte) => letters[byte % letters.length]).join("");
}
