/* In a report: what takes the place of the gateway. The page itself has none. */

export interface Source {
    /** The document that the gateway would answer. Throws ApiError when the report does not have it. */
    document(path: string): unknown;
    /** The bytes that the gateway would answer. */
    bytes(path: string): ArrayBuffer;
    /** The text that the gateway would answer. */
    text(path: string): string;
    /** The lines of a topic; nothing follows them. */
    lines(topic: string): Record<string, unknown>[];
}

let source: Source | null = null;

export function setSource(next: Source): void {
    source = next;
}

export function theSource(): Source {
    if (!source) throw new Error("the report has not been read yet");
    return source;
}
