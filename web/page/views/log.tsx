/* The log of a container: virtual lines, follow, timestamps, wrap, and a filter on what is loaded. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { inkOn, readable, type Colour, type Style } from "../core/ansi";
import { count } from "../core/format";
import { keep, kept } from "../core/kept";
import { useSignal } from "../core/signal";
import { T } from "../core/text";
import { shownTheme } from "../core/theme";
import { LogReader, TAIL, type LogLine, type LogSource } from "../model/log";
import { CopyButton, Message } from "./parts";

const LINE_HEIGHT = 18;
const OVERSCAN = 20;
const HIDDEN_MS = 10_000;
const WRAPPED_MAX = 1000; /* lines that are drawn when long lines are wrapped, whose heights are not known */

const GROUND = { light: "#ffffff", dark: "#0b0f14" };

function hexOf(colour: Colour, style: CSSStyleDeclaration): string {
    return typeof colour === "string" ? colour : style.getPropertyValue(`--ansi-${colour % 8}`).trim();
}

/* The look of a span. Its own colours are moved until they can be read. */
function lookOf(style: Style, ground: string, variables: CSSStyleDeclaration): Record<string, string> {
    const look: Record<string, string> = {};
    const back = style.inverse ? style.fg ?? 7 : style.bg;
    if (back !== undefined) {
        look["background"] = hexOf(back, variables);
        look["color"] = inkOn(look["background"]);
    } else if (style.fg !== undefined) {
        look["color"] = typeof style.fg === "number" ? `var(--ansi-${style.fg % 8})` : readable(style.fg, ground);
    } else if (style.dim) {
        look["color"] = "var(--faint)";
    }
    if (style.bold) look["fontWeight"] = "650";
    if (style.italic) look["fontStyle"] = "italic";
    if (style.underline) look["textDecoration"] = "underline";
    return look;
}

function stampOf(ms: number): string {
    return ms ? new Date(ms).toLocaleTimeString(undefined, { hour12: false }) + `.${String(ms % 1000).padStart(3, "0")}` : "";
}

function Line({ line, times, ground, variables }: { line: LogLine; times: boolean; ground: string; variables: CSSStyleDeclaration }) {
    return (
        <div class="line" dir="auto">
            {times && <span class="stamp" title={line.ms ? new Date(line.ms).toISOString() : ""}>{stampOf(line.ms)}</span>}
            {line.spans.map((span) => (Object.keys(span.style).length ? <span style={lookOf(span.style, ground, variables)}>{span.text}</span> : span.text))}
            {line.cut > 0 && <span class="faint">{T.lineCut(line.cut)}</span>}
            {"\n"}
        </div>
    );
}

function useStored(key: string): [boolean, (on: boolean) => void] {
    const [on, set] = useState(kept(key) === "1");
    return [on, (next) => {
        keep(key, next ? "1" : "");
        set(next);
    }];
}

/* The reader of a log. A hidden tab holds no connection for it; shown again, the log is read anew, as it is when its
   container has started again. The lines stay when the container ends: the reader reads to their end by itself. */
function useReader(source: LogSource): LogReader {
    const [round, again] = useState(0);
    const live = useRef(source.live);
    const starts = useRef(0);
    if (source.live && !live.current) starts.current++;
    live.current = source.live;
    const reader = useMemo(() => new LogReader(source), [source.key, round, starts.current]);
    useEffect(() => {
        let timer = 0;
        let closed = false;
        const onVisibility = () => {
            window.clearTimeout(timer);
            if (document.hidden && !reader.ended) timer = window.setTimeout(() => { closed = true; reader.close(); }, HIDDEN_MS);
            else if (closed) again((old) => old + 1);
        };
        const onLeave = () => reader.close();
        const onReturn = (event: PageTransitionEvent) => event.persisted && again((old) => old + 1);
        document.addEventListener("visibilitychange", onVisibility);
        window.addEventListener("pagehide", onLeave);
        window.addEventListener("pageshow", onReturn);
        return () => {
            document.removeEventListener("visibilitychange", onVisibility);
            window.removeEventListener("pagehide", onLeave);
            window.removeEventListener("pageshow", onReturn);
            window.clearTimeout(timer);
            reader.close();
        };
    }, [reader]);
    return reader;
}

export function LogView({ source }: { source: LogSource }) {
    const reader = useReader(source);
    useSignal(reader.changed);
    const theme = useSignal(shownTheme);
    const box = useRef<HTMLDivElement>(null);
    const [times, setTimes] = useStored("jf-log-times");
    const [wrap, setWrap] = useStored("jf-log-wrap");
    const [follow, setFollow] = useState(true);
    const [seen, setSeen] = useState(0);
    const [query, setQuery] = useState("");
    const [range, setRange] = useState({ top: 0, height: 600 });
    const words = query.toLowerCase();
    const lines = words ? reader.lines.filter((line) => line.text.toLowerCase().includes(words)) : reader.lines;
    const end = reader.lines.length + reader.dropped;

    useLayoutEffect(() => {
        if (!follow) return;
        box.current!.scrollTop = box.current!.scrollHeight;
        setSeen(end);
    }, [end, follow, wrap, times, query]);
    useLayoutEffect(() => {
        const element = box.current!;
        const measure = () => setRange({ top: element.scrollTop, height: element.clientHeight });
        const onScroll = () => {
            measure();
            const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < LINE_HEIGHT;
            setFollow(atEnd);
        };
        const observer = new ResizeObserver(measure);
        observer.observe(element);
        element.addEventListener("scroll", onScroll, { passive: true });
        return () => {
            observer.disconnect();
            element.removeEventListener("scroll", onScroll);
        };
    }, []);

    const first = wrap ? Math.max(0, lines.length - WRAPPED_MAX) : Math.max(0, Math.floor(range.top / LINE_HEIGHT) - OVERSCAN);
    const last = wrap ? lines.length : Math.min(lines.length, Math.ceil((range.top + range.height) / LINE_HEIGHT) + OVERSCAN);
    const variables = getComputedStyle(document.documentElement);
    const fresh = end - seen;
    return (
        <div class="log-view">
            <div class="log-tools">
                <input type="search" class="search" aria-label={T.logFilter} placeholder={T.logFilter} value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
                {words && <span class="faint">{T.logMatches(lines.length, reader.lines.length)}</span>}
                <label><input type="checkbox" checked={times} onChange={(event) => setTimes(event.currentTarget.checked)} /> {T.logTimes}</label>
                <label><input type="checkbox" checked={wrap} onChange={(event) => setWrap(event.currentTarget.checked)} /> {T.logWrap}</label>
                <CopyButton text={() => lines.map((line) => line.text).join("\n")} />
            </div>
            {reader.error && <p class="note bad"><Message text={reader.error} /></p>}
            {(reader.dropped > 0 || reader.lines.length >= TAIL) && <p class="log-note">{T.logCut(count(reader.lines.length))}</p>}
            <div class={`log ${wrap ? "wrap" : ""}`} ref={box} role="log" aria-live="off" tabIndex={0} aria-label={T.tabs.logs}>
                <div style={{ height: `${wrap ? 0 : first * LINE_HEIGHT}px` }} />
                {lines.slice(first, last).map((line) => <Line key={line.at} line={line} times={times} ground={GROUND[theme]} variables={variables} />)}
                <div style={{ height: `${wrap ? 0 : (lines.length - last) * LINE_HEIGHT}px` }} />
            </div>
            <p class="log-note" role="status">
                {!follow && fresh > 0 ? <button type="button" class="small" onClick={() => setFollow(true)}>{T.newLines(fresh)}</button> : null}
                {reader.ended ? (reader.lines.length ? T.logEnd : reader.error ? "" : T.logEmpty) : source.live ? (follow ? T.following : T.notFollowing) : T.loading}
            </p>
        </div>
    );
}
