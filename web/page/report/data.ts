/* What a report has: written by `jobflow report` as JSON, compressed, as the text of one element that nothing runs. */

/** An object of Kubernetes, as far as the report has it. */
export interface Stored {
    metadata?: { name?: string; namespace?: string; labels?: Record<string, string>; resourceVersion?: string };
    [member: string]: unknown;
}

export interface StoredLog {
    pod: string;
    container: string;
    text: string;
    /** Earlier lines are left out. */
    cut?: boolean;
}

/** An event; its object by kind and name. */
export interface StoredEvent extends Stored {
    involvedObject?: { kind?: string; name?: string };
}

export interface ReportFlow {
    ns: string;
    name: string;
    /** The graph as columns, in base64. */
    graph: string;
    /** The line of the topic `flow`, with all steps. */
    line: Record<string, unknown>;
    /** Entries of …/jobflows/NAME/steps. */
    steps: { name: string }[];
    /** The sentence of each step, by its name. */
    why: Record<string, string>;
    /** The flow without its status; without its spec when specs are left out. */
    flow: Stored;
    jobs: Stored[];
    pods: Stored[];
    events: StoredEvent[];
    logs: StoredLog[];
    /** What is not in the report, as sentences. */
    leftOut: string[];
}

export interface ReportData {
    version: string;
    /** When the report was made, and when the flows were looked at; milliseconds since the epoch. */
    madeMs: number;
    nowMs: number;
    specs: boolean;
    flows: ReportFlow[];
}

/** The bytes of a text in base64. */
export function bytesOf(text: string): Uint8Array {
    const chars = atob(text);
    const bytes = new Uint8Array(chars.length);
    for (let at = 0; at < chars.length; at++) bytes[at] = chars.charCodeAt(at);
    return bytes;
}

/** Reads the text of the element: gzip in base64. */
export async function readData(text: string): Promise<ReportData> {
    const packed = bytesOf(text.trim());
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return (await new Response(stream).json()) as ReportData;
}
