/* The server's clock: its time of the last answer that told it, plus the browser's monotonic clock. */
import { signal } from "./signal";

let offset = Date.now() - performance.now();

/** Sets the clock from a time of the server in milliseconds since the epoch. */
export function setServerTime(ms: number): void {
    if (Number.isFinite(ms) && ms > 0) offset = REPORT ? ms : ms - performance.now();
}

/** The server's time now, in milliseconds since the epoch. In a report it stands still. */
export function now(): number {
    return REPORT ? offset : offset + performance.now();
}

/** Changes once a second while something on the page shows a running duration. */
export const tick = signal(0);

let watchers = 0;
let timer = 0;

/** Keeps `tick` going until the returned function is called. A page that shows no running duration has no timer. */
export function keepTicking(): () => void {
    if (!REPORT && watchers++ === 0) timer = window.setInterval(() => { if (!document.hidden) tick.value++; }, 1000);
    return () => {
        if (!REPORT && --watchers === 0) window.clearInterval(timer);
    };
}
