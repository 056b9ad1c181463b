/*
 * Answers what the views ask for from what is in a report, as the gateway would answer it. What the
 * report does not have is refused with a sentence that says so.
 */
import { ApiError } from "../core/api_error";
import type { Source } from "../core/source";
import { T } from "../core/text";
import { bytesOf, type ReportData, type ReportFlow, type Stored } from "./data";

/* A path below /ui/api/, taken apart. */
interface Asked {
    ns: string;
    kind: string;
    name: string;
    sub: string;
    query: URLSearchParams;
}

function missing(text: string): never {
    throw new ApiError(404, "NotFound", text);
}

/** Takes apart …/namespaces/NS/KIND/NAME/SUB?QUERY. */
export function parsePath(path: string): Asked {
    const [place = "", query = ""] = path.split("?", 2);
    const parts = place.split("/").map(decodeURIComponent);
    const at = parts.indexOf("namespaces");
    if (at < 0) return { ns: "", kind: place, name: "", sub: "", query: new URLSearchParams(query) };
    const [ns = "", kind = "", name = "", sub = ""] = parts.slice(at + 1);
    return { ns, kind, name, sub, query: new URLSearchParams(query) };
}

const labelsOf = (object: Stored) => object.metadata?.labels ?? {};

/** The objects with one of the values that "LABEL in (A,B)" names. */
export function selected(objects: readonly Stored[], selector: string): Stored[] {
    const found = /^(\S+) in \((.*)\)$/.exec(selector);
    const values = new Set(found?.[2]?.split(","));
    return objects.filter((object) => values.has(labelsOf(object)[found?.[1] ?? ""] ?? ""));
}

export class ReportSource implements Source {
    constructor(private readonly data: ReportData) {}

    private flow(ns: string, name: string): ReportFlow {
        return this.data.flows.find((flow) => flow.ns === ns && flow.name === name) ?? missing(T.notInReport);
    }

    private all<T>(ns: string, of: (flow: ReportFlow) => readonly T[]): T[] {
        return this.data.flows.filter((flow) => flow.ns === ns).flatMap(of);
    }

    private answerFlow(asked: Asked): unknown {
        const flow = this.flow(asked.ns, asked.name);
        return asked.sub === "steps" ? { items: flow.steps } : flow.flow;
    }

    private explain(query: URLSearchParams): unknown {
        const [ns = "", name = ""] = (query.get("flow") ?? "").split("/");
        const { why } = this.flow(ns, name);
        return { steps: (query.get("step") ?? "").split(",").filter((step) => Object.hasOwn(why, step)).map((step) => ({ name: step, text: why[step] })) };
    }

    private job(asked: Asked): unknown {
        const found = this.all(asked.ns, (flow) => flow.jobs).find((job) => job.metadata?.name === asked.name);
        return found ?? missing(this.data.specs ? T.notInReport : T.noSpecInReport);
    }

    private events(asked: Asked): unknown {
        const name = /involvedObject\.name=([^,]*)/.exec(asked.query.get("fieldSelector") ?? "")?.[1];
        return { items: this.all(asked.ns, (flow) => flow.events).filter((event) => event.involvedObject?.name === name) };
    }

    document(path: string): unknown {
        const asked = parsePath(path);
        switch (asked.kind) {
            case "jobflows":
                return this.answerFlow(asked);
            case "jobs":
                return this.job(asked);
            case "pods":
                return { items: selected(this.all(asked.ns, (flow) => flow.pods), asked.query.get("labelSelector") ?? "") };
            case "podlogs":
                return { items: [] };
            case "events":
                return this.events(asked);
            case "/ui/v1/explain":
                return this.explain(asked.query);
            default:
                return missing(this.data.specs ? T.notInReport : T.noSpecInReport);
        }
    }

    bytes(path: string): ArrayBuffer {
        const { ns, name, sub } = parsePath(path);
        return sub === "graph" ? (bytesOf(this.flow(ns, name).graph).buffer as ArrayBuffer) : missing(T.notInReport);
    }

    text(path: string): string {
        const asked = parsePath(path);
        const logs = asked.kind === "pods" && asked.sub === "log" ? this.all(asked.ns, (flow) => flow.logs) : [];
        const found = logs.find((log) => log.pod === asked.name && log.container === asked.query.get("container"));
        return found ? found.text : missing(T.noLogInReport);
    }

    /* The list of flows, as the topic sends it. */
    private table(): Record<string, unknown> {
        const columns = ["Status", "Steps", "Completed", "Failed", "Running", "Started", "Ended", "Reason"];
        const rows = this.data.flows.map(({ ns, name, line, flow }) => {
            const head = (line["flow"] ?? {}) as { phase?: string; steps?: number; counts?: Record<string, number>; startedMs?: number; endedMs?: number; reason?: string };
            const { counts = {} } = head;
            const time = (ms: number | undefined) => (ms ? new Date(ms).toISOString() : "");
            const cells = [head.phase, head.steps, (counts["Completed"] ?? 0) + (counts["Skipped"] ?? 0), counts["Failed"] ?? 0, counts["Running"] ?? 0, time(head.startedMs), time(head.endedMs), head.reason];
            return { key: `${ns}/${name}`, cells, object: { metadata: { ...flow.metadata, name, namespace: ns } } };
        });
        return { reset: true, columns: columns.map((name) => ({ name, priority: 0 })), rows, ready: true };
    }

    lines(topic: string): Record<string, unknown>[] {
        if (topic === "flows") return [this.table()];
        const found = this.data.flows.find((flow) => topic === `flow ${flow.ns}/${flow.name}`);
        return [found ? found.line : { topic, reset: true, gone: true }];
    }
}
