/* Small pieces that all views use. */
import { Component, type ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { keepTicking, now, tick } from "../core/clock";
import { clockTime, duration } from "../core/format";
import { codePoint, links, pieces } from "../core/marked";
import { FILLED, phaseOf, SIGN_PATHS } from "../core/phase";
import { useSignal } from "../core/signal";
import { T } from "../core/text";

/** The sign of a phase. It is decoration: the word of the phase always stands beside it, or in its label. */
export function Sign({ phase, size = 16 }: { phase: string; size?: number }) {
    const { sign, cls } = phaseOf(phase);
    return (
        <svg class={`sign c-${cls}`} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
            <circle class="disc" cx="8" cy="8" r="7.25" />
            <path class={FILLED.has(sign) ? "ink-fill" : "ink"} d={SIGN_PATHS[sign]} />
        </svg>
    );
}

/** The sign and the word of a phase. */
export function Phase({ phase }: { phase: string }) {
    return (
        <span class="phase">
            <Sign phase={phase} />
            {phase || "–"}
        </span>
    );
}

/** A member of a list of names and values. */
export function Field({ name, children }: { name: string; children: ComponentChildren }) {
    return <><dt>{name}</dt><dd>{children}</dd></>;
}

/** A name of others: characters that would not show, or would turn their neighbours around, are marked. */
export function Name({ name }: { name: string }) {
    const parts = pieces(name);
    if (parts.every((piece) => !piece.odd)) return <bdi>{name}</bdi>;
    return (
        <bdi>
            {parts.map((piece) => (piece.odd ? <span class="odd" data-char={piece.text} title={codePoint(piece.text)}>{codePoint(piece.text)}</span> : piece.text))}
        </bdi>
    );
}

/** A sentence of the server or of a program. Web addresses in it become links that show their whole target. */
export function Message({ text }: { text: string }) {
    return (
        <bdi class="message">
            {links(text).map((part) => (part.href ? <a href={part.href} rel="noopener noreferrer" target="_blank">{part.text}</a> : part.text))}
        </bdi>
    );
}

/** Draws the component anew once a second while `on`. */
export function useTick(on: boolean): void {
    useSignal(tick);
    useEffect(() => (on ? keepTicking() : undefined), [on]);
}

/** A time as its distance from now, with the exact time on hover. In a report, which is read at any time, the exact time. */
export function Ago({ ms }: { ms: number }) {
    useTick(ms > 0 && now() - ms < 7_200_000);
    if (!ms) return <span class="faint">–</span>;
    if (REPORT) return <Moment ms={ms}>{clockTime(ms, 0)}</Moment>;
    return <Moment ms={ms}>{T.ago(duration(now() - ms))}</Moment>;
}

/** A time of which `children` is the text. */
export function Moment({ ms, children }: { ms: number; children: ComponentChildren }) {
    const iso = new Date(ms).toISOString();
    return <time dateTime={iso} title={iso}>{children}</time>;
}

/** How long something took, or takes until now. */
export function Took({ from, to, running }: { from: number; to: number; running: boolean }) {
    useTick(running && from > 0 && !to);
    if (!from || (!to && !running)) return <span class="faint">–</span>;
    return <span>{duration((to || now()) - from)}</span>;
}

/** A button that copies a text and says so for a moment. */
export function CopyButton({ text, label = T.copy }: { text: string | (() => string); label?: string }) {
    const [done, setDone] = useState(false);
    useEffect(() => {
        if (!done) return undefined;
        const timer = setTimeout(() => setDone(false), 1500);
        return () => clearTimeout(timer);
    }, [done]);
    const copy = () => void navigator.clipboard.writeText(typeof text === "string" ? text : text()).then(() => setDone(true), () => setDone(false));
    return <button type="button" class="small" onClick={copy}>{done ? T.copied : label}</button>;
}

/** A command that a user can copy into a terminal. */
export function Command({ text }: { text: string }) {
    return (
        <p class="command">
            <code>{text}</code>
            <CopyButton text={text} />
        </p>
    );
}

/** Keeps a failure of one view from taking the page with it. The failure is shown as one line and sent nowhere. */
export class Boundary extends Component<{ children: ComponentChildren }, { failure: string; details: string }> {
    override state = { failure: "", details: "" };

    override componentDidCatch(error: unknown): void {
        const failure = error instanceof Error ? error.message : String(error);
        this.setState({ failure, details: error instanceof Error ? error.stack ?? failure : failure });
    }

    override render() {
        if (!this.state.failure) return this.props.children;
        return (
            <div class="note bad" role="alert">
                {T.failed}
                <bdi>{this.state.failure}</bdi>
                <details>
                    <summary>{T.details}</summary>
                    <pre>{this.state.details}</pre>
                </details>
                <CopyButton text={this.state.details} />
            </div>
        );
    }
}
