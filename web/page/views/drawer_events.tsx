/* The events of a step: of its jobs, pod groups and pods, and those of the flow that name it; together, by time. */
import { useAnswer } from "../core/answer";
import { apiPath, getJson } from "../core/api";
import { now } from "../core/clock";
import { clockTime, parseTime } from "../core/format";
import { T } from "../core/text";
import type { Step } from "../model/flow";
import type { Pod } from "../model/pods";
import { Message, Moment, Name } from "./parts";

interface EventObject {
    metadata: { uid?: string; name: string; creationTimestamp?: string };
    involvedObject?: { kind?: string; name?: string };
    type?: string;
    reason?: string;
    message?: string;
    count?: number;
    firstTimestamp?: string | null;
    lastTimestamp?: string | null;
    eventTime?: string | null;
}

const PODS_MAX = 10; /* pods whose events are asked for */

const timeOf = (event: EventObject) => parseTime(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp);

/* Whether a message has one of the names as a whole word. */
function mentions(message: string, names: readonly string[]): boolean {
    return message.split(/[^A-Za-z0-9.-]+/).some((word) => names.includes(word.replace(/[.-]+$/, "")));
}

async function eventsOf(ns: string, name: string, signal: AbortSignal): Promise<EventObject[]> {
    const query = new URLSearchParams([["fieldSelector", `involvedObject.name=${name}`], ["limit", "500"]]);
    return (await getJson<{ items?: EventObject[] }>(`${apiPath("", "v1", ns, "events")}?${query}`, signal)).items ?? [];
}

async function loadStep(ns: string, flow: string, step: string, names: string[], signal: AbortSignal): Promise<EventObject[]> {
    const lists = await Promise.all([flow, ...names].map((name) => eventsOf(ns, name, signal)));
    const [ofFlow, ...own] = lists;
    const found = new Map([...ofFlow!.filter((event) => event.involvedObject?.kind === "JobFlow" && mentions(event.message ?? "", [step, ...names])), ...own.flat()].map((event) => [event.metadata.uid ?? event.metadata.name, event]));
    return [...found.values()].sort((a, b) => timeOf(b) - timeOf(a));
}

/* Events of the thing `of`, the newest first. `load` is called again when `again` changes. */
function Events({ of, again, load }: { of: string; again: string; load(signal: AbortSignal): Promise<EventObject[]> }) {
    const { value: events, error } = useAnswer(of, load, again);
    if (error) return <p class="note bad">{error.message}</p>;
    if (!events) return <p class="note faint">{T.loading}</p>;
    if (events.length === 0) return <p class="note">{T.noEvents}</p>;
    return (
        <ul class="events">
            {events.map((event) => (
                <li key={event.metadata.uid ?? event.metadata.name} class={event.type === "Warning" ? "warning" : ""}>
                    <span class="faint"><Moment ms={timeOf(event)}>{clockTime(timeOf(event), now())}</Moment>{(event.count ?? 1) > 1 && ` × ${event.count}`}</span>
                    <b><Name name={event.reason ?? ""} /></b>
                    <span><Message text={event.message ?? ""} /> <span class="faint">{event.involvedObject?.kind} <Name name={event.involvedObject?.name ?? ""} /></span></span>
                </li>
            ))}
        </ul>
    );
}

/** The events of a step. */
export function EventsTab({ ns, flow, step, jobs, pods }: { ns: string; flow: string; step: Step; jobs: string[]; pods: Pod[] }) {
    const names = [...new Set([...jobs, ...pods.slice(0, PODS_MAX).flatMap((pod) => [pod.name, ...(pod.group ? [pod.group] : [])])])];
    return <Events of={`${ns}/${flow} ${step.name}`} again={`${names.join()} ${step.version}`} load={(signal) => loadStep(ns, flow, step.name, names, signal)} />;
}

/** The events of objects by their names. */
export function EventList({ ns, names, version }: { ns: string; names: string[]; version: number }) {
    const asked = [...new Set(names)].slice(0, 2 * PODS_MAX);
    return <Events of={`${ns}/${asked[0] ?? ""}`} again={`${asked.join()} ${version}`} load={async (signal) => (await Promise.all(asked.map((name) => eventsOf(ns, name, signal)))).flat().sort((a, b) => timeOf(b) - timeOf(a))} />;
}
