/* The sentence that says why a step waits, runs or has ended: the server's words, asked for as steps are shown. */
import { getJson } from "../core/api";
import { signal } from "../core/signal";
import type { FlowModel } from "./flow";

const BATCH = 50; /* steps of one request */
const URL_MAX = 7000; /* bytes of their names in its address */
const PAUSE_MS = 300;

interface Known {
    version: number;
    text: string;
}

export class WhyCache {
    /** Changes when sentences have come. */
    readonly changed = signal(0);
    private known = new Map<string, Known>();
    private wanted = new Set<string>();
    private timer = 0;

    constructor(private readonly flow: string, private readonly model: FlowModel) {}

    /** The sentence of a step as far as it is known; asks for it when it is not, or is older than the step. */
    of(name: string): string {
        const version = this.model.step(name)?.version ?? 0;
        const known = this.known.get(name);
        if (known?.version !== version) {
            this.wanted.add(name);
            if (!this.timer) this.timer = window.setTimeout(() => void this.ask(), known ? PAUSE_MS : 20);
        }
        return known?.text ?? "";
    }

    private async ask(): Promise<void> {
        const names = batchOf([...this.wanted]);
        for (const name of names) this.wanted.delete(name);
        const versions = new Map(names.map((name) => [name, this.model.step(name)?.version ?? 0]));
        const query = new URLSearchParams([["flow", this.flow], ["step", names.join(",")]]);
        try {
            const answer = await getJson<{ steps?: { name: string; text: string }[] }>(`/ui/v1/explain?${query}`);
            for (const step of answer.steps ?? []) this.known.set(step.name, { version: versions.get(step.name) ?? 0, text: step.text });
        } catch {
            /* without an answer what is known stays */
        }
        for (const name of names) if (this.known.get(name)?.version !== versions.get(name)) this.known.set(name, { version: versions.get(name) ?? 0, text: this.known.get(name)?.text ?? "" });
        this.timer = this.wanted.size ? window.setTimeout(() => void this.ask(), PAUSE_MS) : 0;
        this.changed.value++;
    }
}

/* The first names of a list, as many as one request may have. */
function batchOf(names: string[]): string[] {
    let length = 0;
    return names.slice(0, BATCH).filter((name, at) => (length += encodeURIComponent(name).length + 3) < URL_MAX || at === 0);
}
