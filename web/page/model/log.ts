/* The lines of a container's log, read from one streamed answer. */
import { parseLine, type Span, type Style } from "../core/ansi";
import { request } from "../core/api";
import { signal } from "../core/signal";

export interface LogLine {
    /** Number of the line since the log was opened. */
    at: number;
    /** When it was written, in milliseconds since the epoch; 0: not known. */
    ms: number;
    spans: Span[];
    /** Its text without sequences. */
    text: string;
    /** Characters that were left out at its end. */
    cut: number;
}

export interface LogSource {
    key: string;
    label: string;
    /** Path of the log, with its container. */
    path: string;
    /** The container may still write. */
    live: boolean;
}

const LINES_MAX = 20_000;
const LINE_MAX = 65_536;
export const TAIL = 5000;

export class LogReader {
    readonly changed = signal(0);
    lines: LogLine[] = [];
    /** Lines that were dropped from the front because there were too many. */
    dropped = 0;
    /** The answer has ended. */
    ended = false;
    error = "";
    private next = 0;
    private style: Style = {};
    private rest = "";
    private readonly control = new AbortController();
    private readonly decoder = new TextDecoder();

    constructor(private readonly source: LogSource) {
        void this.run();
    }

    close(): void {
        this.control.abort();
    }

    private async run(): Promise<void> {
        const query = new URLSearchParams([["timestamps", "true"], ["tailLines", String(TAIL)], ...(this.source.live ? [["follow", "true"] as [string, string]] : [])]);
        try {
            const answer = await request(`${this.source.path}${this.source.path.includes("?") ? "&" : "?"}${query}`, { signal: this.control.signal });
            const reader = answer.body!.getReader();
            for (;;) {
                const { done, value } = await reader.read();
                if (done) break;
                this.take(this.decoder.decode(value, { stream: true }));
            }
        } catch (error) {
            if (this.control.signal.aborted) return;
            this.error = error instanceof Error ? error.message : String(error);
        }
        if (this.rest) this.take("\n");
        this.ended = true;
        this.changed.value++;
    }

    private take(chunk: string): void {
        const parts = (this.rest + chunk).split("\n");
        this.rest = parts.pop()!;
        for (const part of parts) this.lines.push(this.lineOf(part));
        if (this.lines.length > LINES_MAX) {
            this.dropped += this.lines.length - LINES_MAX;
            this.lines = this.lines.slice(-LINES_MAX);
        }
        if (parts.length) this.changed.value++;
    }

    private lineOf(raw: string): LogLine {
        const stamp = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) ?/.exec(raw);
        const whole = stamp ? raw.slice(stamp[0]!.length) : raw;
        const parsed = parseLine(whole.slice(0, LINE_MAX), this.style);
        this.style = parsed.style;
        return { at: this.next++, ms: stamp ? Date.parse(stamp[1]!.replace(/(\.\d{3})\d+/, "$1")) : 0, spans: parsed.spans, text: parsed.spans.map((span) => span.text).join(""), cut: Math.max(0, whole.length - LINE_MAX) };
    }
}
