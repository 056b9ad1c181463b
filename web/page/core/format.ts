/* Durations, times and counts as text. Durations read as those of the command line. */

function pair(a: number, unitA: string, b: number, unitB: string): string {
    return b ? `${a}${unitA}${b}${unitB}` : `${a}${unitA}`;
}

/** A duration of whole seconds, as `jobflow get` prints ages: "45s", "3m20s", "5h", "2d4h". */
export function duration(ms: number): string {
    const seconds = Math.max(0, Math.trunc(ms / 1000));
    const minutes = Math.trunc(seconds / 60);
    const hours = Math.trunc(minutes / 60);
    const days = Math.trunc(hours / 24);
    if (seconds < 120) return `${seconds}s`;
    if (minutes < 10) return pair(minutes, "m", seconds % 60, "s");
    if (minutes < 180) return `${minutes}m`;
    if (hours < 8) return pair(hours, "h", minutes % 60, "m");
    if (hours < 48) return `${hours}h`;
    if (days < 8) return pair(days, "d", hours % 24, "h");
    if (days < 730) return `${days}d`;
    return pair(Math.trunc(days / 365), "y", days < 2920 ? days % 365 : 0, "d");
}

/** A measured duration: hundredths of a second below a minute, as duration() from there on. */
export function preciseDuration(ms: number): string {
    return ms < 60_000 ? `${(Math.max(0, ms) / 1000).toFixed(2)}s` : duration(ms);
}

/** Milliseconds of a duration such as "90s", "10m" or "1h30m"; null when the text is none. */
export function parseDuration(text: string): number | null {
    const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
    if (!/^(\d+(\.\d+)?(ms|[smhd]))+$/.test(text)) return null;
    let sum = 0;
    for (const [, number, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|[smhd])/g)) sum += Number(number) * (units[unit!] ?? 0);
    return sum;
}

/** Milliseconds since the epoch of an RFC 3339 text; 0 when it is absent or none. */
export function parseTime(text: string | null | undefined): number {
    const ms = text ? Date.parse(text) : NaN;
    return Number.isFinite(ms) ? ms : 0;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
    let format = formats.get(name);
    if (!format) formats.set(name, (format = new Intl.DateTimeFormat(undefined, options)));
    return format;
}

/** A time of the day, with the date unless it is within the day before `now`. */
export function clockTime(ms: number, now: number): string {
    const time = formatOf("time", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
    const both = formatOf("both", { dateStyle: "medium", timeStyle: "medium" });
    return (Math.abs(now - ms) < 86_400_000 ? time : both).format(ms);
}

/** A whole number with separators of thousands. */
export function count(n: number): string {
    return n < 1000 ? String(n) : n.toLocaleString();
}

/** Bytes with a binary unit: "75 B", "2.1 MiB". */
export function bytes(n: number): string {
    const units = ["B", "KiB", "MiB", "GiB"];
    let unit = 0;
    while (n >= 1024 && unit < units.length - 1) {
        n /= 1024;
        unit++;
    }
    return `${unit ? n.toFixed(1) : n} ${units[unit]}`;
}

/** An exit code in words: "1", "137 (killed: SIGKILL)". */
export function exitCode(code: number): string {
    const signals: Record<number, string> = { 1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 6: "SIGABRT", 9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM" };
    const name = signals[code - 128];
    return name ? `${code} (${name})` : String(code);
}
