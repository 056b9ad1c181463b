/* Lines of JSON from a streamed answer. */

/** Splits chunks of bytes into lines and parses each as JSON. Empty lines and lines that are no objects are left out. */
export class LineReader {
    private rest = "";
    private readonly decoder = new TextDecoder();

    /** Takes the next bytes and returns the values of the lines that they complete. */
    take(chunk: Uint8Array): Record<string, unknown>[] {
        const lines = (this.rest + this.decoder.decode(chunk, { stream: true })).split("\n");
        this.rest = lines.pop() ?? "";
        const out: Record<string, unknown>[] = [];
        for (const line of lines) {
            if (!line.trim()) continue;
            try {
                const value: unknown = JSON.parse(line);
                if (value && typeof value === "object" && !Array.isArray(value)) out.push(value as Record<string, unknown>);
            } catch {
                continue; /* a line that is cut says nothing that the next one does not */
            }
        }
        return out;
    }
}
