/* Work that is done again when something has changed. */

export interface Refresh {
    /** Says that something has changed: the work is done soon, and once more when it was under way already. */
    poke(): void;
    /** Nothing is begun afterwards. */
    stop(): void;
}

type Later = (run: () => void, ms: number) => number;

/** Does the work at once, and after each change, at most once in `pause` milliseconds and never twice at a time. */
export function refresh(work: () => Promise<unknown>, pause: number, later: Later = (run, ms) => window.setTimeout(run, ms)): Refresh {
    let working = false;
    let changed = false;
    let waiting = false;
    let stopped = false;
    const begin = () => {
        waiting = false;
        if (stopped) return;
        working = true;
        changed = false;
        void work().catch(() => undefined).then(() => {
            working = false;
            if (changed) wait();
        });
    };
    const wait = () => {
        if (waiting || stopped) return;
        waiting = true;
        later(begin, pause);
    };
    begin();
    return {
        poke() {
            changed = true;
            if (!working) wait();
        },
        stop() {
            stopped = true;
        },
    };
}
