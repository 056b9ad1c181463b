/*
 * Manifests that are typed or dropped: what the gateway's plan says of them, and the requests that
 * apply them, document by document, in the order in which one needs the other.
 */
import { apiPath } from "../core/paths";

export interface PlannedDocument {
    /** Place of its first byte in the text, and its line. */
    begin: number;
    line: number;
    apiVersion?: string;
    kind?: string;
    namespace?: string;
    name?: string;
}

export interface PlannedStep {
    name: string;
    stage?: number;
    after?: string[];
    needs?: string;
}

export interface Plan {
    ok: boolean;
    findings: string[];
    documents: PlannedDocument[];
    plan?: {
        objects?: { kind: string; namespace?: string; name: string; action: string; changes?: unknown[] }[];
        flows?: { name: string; namespace?: string; steps?: PlannedStep[] }[];
    };
}

/* Kinds that pass the gateway, in the order in which they are applied: group, resource, whether it has a namespace. */
const KINDS: Record<string, [string, string, boolean]> = {
    Namespace: ["", "namespaces", false],
    PriorityClass: ["scheduling.k8s.io", "priorityclasses", false],
    Queue: ["scheduling.volcano.sh", "queues", false],
    ConfigMap: ["", "configmaps", true],
    Secret: ["", "secrets", true],
    PersistentVolumeClaim: ["", "persistentvolumeclaims", true],
    Service: ["", "services", true],
    JobTemplate: ["flow.volcano.sh", "jobtemplates", true],
    JobFlow: ["flow.volcano.sh", "jobflows", true],
    Job: ["batch.volcano.sh", "jobs", true],
};

export interface Application {
    label: string;
    path: string;
    /** The document as it was written. */
    text: string;
    kind: string;
    ns: string;
    name: string;
}

/** The requests for the documents of a text. `problem`: which of them cannot be applied from the page. */
export function applicationsOf(text: string, documents: readonly PlannedDocument[], ns: string): { list: Application[]; problem: string } {
    const bytes = new TextEncoder().encode(text);
    const decoder = new TextDecoder();
    const list: Application[] = [];
    for (const [at, document] of documents.entries()) {
        const { apiVersion = "", kind = "", name = "" } = document;
        const known = Object.hasOwn(KINDS, kind) ? KINDS[kind]! : null;
        const [group, version] = apiVersion.includes("/") ? apiVersion.split("/", 2) : ["", apiVersion];
        if (!known || known[0] !== group || !name) return { list: [], problem: `line ${document.line}: ${kind || "a document without kind"} ${name ? "" : "without a name "}is not applied from the page; jobflow apply -f FILE does` };
        const space = known[2] ? document.namespace || ns : "";
        const from = at === 0 ? 0 : document.begin;
        const until = documents[at + 1]?.begin ?? bytes.length;
        list.push({
            label: `${kind} ${name}`, kind, ns: space, name,
            path: `${apiPath(group!, version || "v1", space, known[1], name)}?fieldManager=jobflow-ui`,
            text: decoder.decode(bytes.subarray(from, until)),
        });
    }
    const order = Object.keys(KINDS);
    return { list: list.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind)), problem: "" };
}

/** Whether a text has a Secret, which is kept nowhere. */
export function hasSecret(text: string): boolean {
    return /kind["']?\s*:\s*["']?Secret\b/.test(text);
}

export const APPLY_TYPE = "application/apply-patch+yaml";
