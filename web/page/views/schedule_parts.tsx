/* What a CronJob or a FlowTrigger says of itself: when it acts, what it has made, and why it makes nothing now. */
import { now } from "../core/clock";
import { clockTime, count, parseTime } from "../core/format";
import { flowHref, objectHref } from "../core/route";
import { T } from "../core/text";
import { Field, Message, Moment, Name } from "./parts";

interface Made {
    kind?: string;
    name?: string;
    namespace?: string;
}

export interface ScheduleDocument {
    spec?: Record<string, any>;
    status?: Record<string, any>;
}

function Time({ name, text }: { name: string; text: unknown }) {
    const ms = parseTime(typeof text === "string" ? text : null);
    return ms ? <Field name={name}><Moment ms={ms}>{clockTime(ms, now())}</Moment></Field> : null;
}

function Number_({ name, value }: { name: string; value: unknown }) {
    return typeof value === "number" && value > 0 ? <Field name={name}>{count(value)}</Field> : null;
}

/* The end of which flow it acts on. */
function Source({ of, ns }: { of: { name?: string; trigger?: string; phases?: string[] }; ns: string }) {
    const href = of.trigger ? objectHref("triggers", ns, of.trigger) : flowHref(ns, of.name ?? "");
    return <span class="block"><a href={href}><Name name={of.trigger ?? of.name ?? ""} /></a> <span class="faint">{(of.phases ?? ["Succeed"]).join(", ")}</span></span>;
}

export function ScheduleOverview({ document, ns, makes }: { document: ScheduleDocument; ns: string; makes: "jobs" | "flows" }) {
    const { spec = {}, status = {} } = document;
    const schedule: Record<string, any> = makes === "jobs" ? { cron: spec["schedule"], timeZone: spec["timeZone"] } : spec["schedule"] ?? {};
    const active: Made[] = Array.isArray(status["active"]) ? status["active"] : [];
    const sources: { name?: string; trigger?: string; phases?: string[] }[] = makes === "flows" && Array.isArray(spec["flows"]) ? spec["flows"] : [];
    const state: { reason?: string; message?: string } = status["state"] ?? {};
    const href = (name: string) => (makes === "jobs" ? objectHref("jobs", ns, name) : flowHref(ns, name));
    return (
        <>
            {(state.reason || state.message) && <Field name={T.columns.why}><Message text={[state.reason, state.message].filter(Boolean).join(": ")} /></Field>}
            {schedule["cron"] && <Field name={T.schedule}><span class="mono"><Name name={String(schedule["cron"])} /></span>{schedule["timeZone"] ? <> <Name name={String(schedule["timeZone"])} /></> : ""}</Field>}
            {sources.length > 0 && <Field name={T.afterFlows}>{sources.slice(0, 100).map((one) => <Source of={one} ns={ns} />)}</Field>}
            {spec["flowName"] && <Field name={T.pattern}><a href={flowHref(ns, String(spec["flowName"]))}><Name name={String(spec["flowName"])} /></a></Field>}
            <Field name={T.suspended}>{spec["suspend"] === true ? T.yes : T.no}</Field>
            {spec["concurrencyPolicy"] && <Field name={T.concurrency}><Name name={String(spec["concurrencyPolicy"])} /></Field>}
            <Time name={T.nextTime} text={status["nextScheduleTime"]} />
            <Time name={T.lastTime} text={status["lastFiredTime"] ?? status["lastScheduleTime"]} />
            <Time name={T.lastSuccess} text={status["lastSuccessfulTime"]} />
            <Field name={T.activeNow}>{active.length === 0 ? <span class="faint">{T.nothingActive}</span> : active.slice(0, 100).map((one) => <span class="block"><a href={href(one.name ?? "")}><Name name={one.name ?? ""} /></a></span>)}</Field>
            <Number_ name={T.pendingFirings} value={status["pending"]} />
            <Number_ name={T.fired} value={status["fired"]} />
            <Number_ name={T.skippedFirings} value={status["skipped"]} />
            <Number_ name={T.missedFirings} value={status["missed"]} />
        </>
    );
}
