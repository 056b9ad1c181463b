/* Answers of the server as state of components. */
import { useEffect, useState } from "preact/hooks";
import { refresh } from "./refresh";

export interface Answer<T> {
    /** The last answer; null before the first one. It stays when a later question fails. */
    value: T | null;
    /** Grows with each answer. */
    version: number;
    /** Why the last question failed; null when it was answered. */
    error: Error | null;
}

interface Changes {
    /** Begins to listen, and returns what ends that. `changed` says that the answer may be another one now. */
    listen(changed: () => void): () => void;
    /** Milliseconds between a change and the question after it. */
    pause: number;
}

const NONE = { value: null, version: 0, error: null };

/** What the server answers to a question about the thing `of`; "" asks nothing. The question is asked again when `of` or
    `again` is another one, and after each of the `changes`. The answer stays until the next one arrives, but no
    answer about one thing is shown for another. */
export function useAnswer<T>(of: string, ask: (signal: AbortSignal) => Promise<T>, again: string | number = "", changes?: Changes): Answer<T> {
    const [state, setState] = useState<Answer<T> & { of: string }>({ ...NONE, of: "" });
    useEffect(() => {
        if (!of) return undefined;
        const control = new AbortController();
        const put = (part: Partial<Answer<T>>) => {
            if (!control.signal.aborted) setState((old) => ({ ...(old.of === of ? old : NONE), ...part, of }));
        };
        const asked = () => ask(control.signal).then(
            (value) => setState((old) => ({ value, version: old.version + 1, error: null, of })),
            (error: Error) => put({ error }),
        );
        const work = refresh(asked, changes?.pause ?? 0);
        const stop = changes?.listen(work.poke);
        return () => {
            work.stop();
            control.abort();
            stop?.();
        };
    }, [of, again]);
    return state.of === of ? state : NONE;
}
