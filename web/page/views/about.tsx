/* What a flow says of itself beside its steps: critical path, parameters, labels, versions. */
import { useState } from "preact/hooks";
import { useAnswer } from "../core/answer";
import { flowPath, getJson } from "../core/api";
import { now } from "../core/clock";
import { clockTime, parseTime } from "../core/format";
import { setQuery } from "../core/route";
import { T } from "../core/text";
import type { FlowModel } from "../model/flow";
import { Downloads } from "./downloads";
import { Message, Moment, Name } from "./parts";
import { Runs } from "./runs";

const PATH_ENDS = 6; /* steps of a long critical path that are shown at either end */

interface FlowObject {
    metadata?: { labels?: Record<string, string>; generation?: number; resourceVersion?: string; uid?: string; creationTimestamp?: string };
    spec?: { parameters?: { name: string; default?: unknown; value?: unknown; description?: string }[] };
}

function CriticalPath({ names }: { names: string[] }) {
    const long = names.length > 2 * PATH_ENDS;
    const shown = long ? [...names.slice(0, PATH_ENDS), "", ...names.slice(-PATH_ENDS)] : names;
    return (
        <span class="path">
            {shown.map((name, at) => (
                <>
                    {at > 0 && <span class="faint"> → </span>}
                    {name ? <button type="button" class="link" onClick={() => setQuery({ step: name })}><Name name={name} /></button> : <span class="faint">{T.more(names.length - 2 * PATH_ENDS)}</span>}
                </>
            ))}
        </span>
    );
}

function Pairs({ pairs }: { pairs: [string, string][] }) {
    return <>{pairs.map(([name, value]) => <span class="pair"><Name name={name} />=<Message text={value} /></span>)}</>;
}

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value) ?? "");

export function About({ ns, name, model }: { ns: string; name: string; model: FlowModel }) {
    const [open, setOpen] = useState(false);
    const { value: object } = useAnswer(open ? `${ns}/${name}` : "", (signal) => getJson<FlowObject>(flowPath(ns, name), signal), `${model.generation} ${model.head.phase}`);
    const meta = object?.metadata ?? {};
    const labels = Object.entries(meta.labels ?? {});
    const parameters = (object?.spec?.parameters ?? []).map((parameter): [string, string] => [parameter.name, textOf(parameter.value ?? parameter.default)]);
    const created = parseTime(meta.creationTimestamp);
    return (
        <details class="about" onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>{T.details}</summary>
            <dl class="fields">
                {open && !REPORT && <><dt>{T.handOn}</dt><dd><Downloads ns={ns} name={name} /></dd></>}
                {open && <><dt>{T.runs}</dt><dd><Runs ns={ns} name={name} /></dd></>}
                {model.criticalPath.length > 0 && <><dt>{T.pathOnly}</dt><dd><CriticalPath names={model.criticalPath} /></dd></>}
                {parameters.length > 0 && <><dt>{T.parameters}</dt><dd><Pairs pairs={parameters} /></dd></>}
                {labels.length > 0 && <><dt>{T.labels}</dt><dd><Pairs pairs={labels} /></dd></>}
                {created > 0 && <><dt>{T.created}</dt><dd><Moment ms={created}>{clockTime(created, now())}</Moment></dd></>}
                {meta.uid && <><dt>{T.version}</dt><dd>{T.versionText(meta.generation ?? 1, meta.resourceVersion ?? "")} <span class="faint">{meta.uid}</span></dd></>}
            </dl>
        </details>
    );
}
