/* One job, pod, template, schedule or trigger: what it is and does, its pods and logs, its events, and its YAML. */
import { useRef } from "preact/hooks";
import { useAnswer, type Answer } from "../core/answer";
import { ApiError, apiPath, getJson } from "../core/api";
import { now } from "../core/clock";
import { clockTime, parseTime } from "../core/format";
import { flowHref, hrefOf, objectHref, route, setQuery } from "../core/route";
import { shellWord } from "../core/shell";
import { useSignal } from "../core/signal";
import { subscribe } from "../core/stream";
import { T } from "../core/text";
import { toYaml } from "../core/yaml";
import { OBJECT_KINDS } from "../model/objects";
import type { TopicRow } from "../model/topic_table";
import { fetchPods, logsOf, podOf, type StepPods } from "../model/pods";
import { EventList } from "./drawer_events";
import { LogOfPods, PodCard } from "./pod_parts";
import { ScheduleOverview } from "./schedule_parts";
import { Boundary, Command, CopyButton, Field, Message, Moment, Name, Phase, Took } from "./parts";
import { setTitle } from "./title";

type Page = keyof typeof OBJECT_KINDS;
type Tab = "overview" | "logs" | "pods" | "events" | "spec";

const TABS: Record<Page, Tab[]> = { jobs: ["overview", "logs", "pods", "events", "spec"], pods: ["overview", "logs", "events", "spec"], templates: ["overview", "spec"], schedules: ["overview", "events", "spec"], triggers: ["overview", "events", "spec"] };

/* The command that changes an object, and its kind on the command line. */
const CHANGES: Partial<Record<Page, [string, string]>> = { jobs: ["suspend", "job"], pods: ["delete", "pod"], schedules: ["trigger", "cronvj"], triggers: ["trigger", "ft"] };

interface ObjectDocument {
    metadata: { name: string; namespace?: string; uid?: string; resourceVersion?: string; creationTimestamp?: string; labels?: Record<string, string>; annotations?: Record<string, string>; ownerReferences?: { kind: string; name: string }[]; managedFields?: unknown };
    spec?: Record<string, any>;
    status?: Record<string, any>;
}

const STEP = "volcano.sh/jobFlowNode";
const JOB_OF_POD = "volcano.sh/job-name";

/* The object, asked for again when its row in the list of its kind changes. */
function useObject(page: Page, ns: string, name: string): Answer<ObjectDocument> {
    const kind = OBJECT_KINDS[page];
    const have = useRef(""); /* resourceVersion of the document */
    const ask = async (signal: AbortSignal) => {
        const document = await getJson<ObjectDocument>(apiPath(kind.group, kind.version, ns, kind.resource, name), signal);
        have.current = document.metadata.resourceVersion ?? "";
        return document;
    };
    const listen = (changed: () => void) => subscribe(`objects ${kind.resource} ${ns} `.trim(), (line) => {
        const gone = ((line["gone"] as string[] | undefined) ?? []).includes(`${ns}/${name}`);
        const row = ((line["rows"] as TopicRow[] | undefined) ?? []).find((other) => other.key === `${ns}/${name}`);
        if (gone || (row && row.object?.metadata?.resourceVersion !== have.current)) changed();
    });
    return useAnswer(`${page} ${ns}/${name}`, ask, "", { listen, pause: 150 });
}

function Origin({ document, ns }: { document: ObjectDocument; ns: string }) {
    const owner = document.metadata.ownerReferences?.[0];
    const step = document.metadata.annotations?.[STEP] ?? document.metadata.labels?.[STEP];
    const job = document.metadata.labels?.[JOB_OF_POD] ?? document.metadata.annotations?.[JOB_OF_POD];
    if (owner?.kind === "JobFlow") return <Field name={T.ofFlow}><a href={flowHref(ns, owner.name, step ? { step } : {})}><Name name={owner.name} />{step && <> / <Name name={step} /></>}</a></Field>;
    if (owner?.kind === "Job" || job) return <Field name={T.job}><a href={objectHref("jobs", ns, job ?? owner!.name)}><Name name={job ?? owner!.name} /></a></Field>;
    return null;
}

function Tasks({ document }: { document: ObjectDocument }) {
    const counts: Record<string, { phase?: Record<string, number> }> = document.status?.["taskStatusCount"] ?? {};
    const tasks: { name?: string; replicas?: number; minAvailable?: number }[] = document.spec?.["tasks"] ?? [];
    return (
        <table class="plain wide">
            <thead><tr><th scope="col">{T.task}</th><th scope="col">{T.objects.pods}</th><th scope="col">{T.gangNeeds}</th><th scope="col">{T.columns.state}</th></tr></thead>
            <tbody>
                {tasks.map((task) => (
                    <tr>
                        <th scope="row"><Name name={task.name ?? ""} /></th><td>{task.replicas ?? 1}</td><td>{task.minAvailable ?? task.replicas ?? 1}</td>
                        <td>{Object.entries(counts[task.name ?? ""]?.phase ?? {}).map(([phase, n]) => <span class="pair"><Phase phase={phase} /> {n}</span>)}</td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

function JobOverview({ document }: { document: ObjectDocument }) {
    const { spec = {}, status = {} } = document;
    const policies: { event?: string; events?: string[]; exitCode?: number; action?: string }[] = spec["policies"] ?? [];
    const started = parseTime(document.metadata.creationTimestamp);
    const phase = status["state"]?.phase ?? "";
    const changed = parseTime(status["state"]?.lastTransitionTime);
    const over = ["Completed", "Failed", "Terminated", "Aborted"].includes(phase);
    return (
        <>
            {(status["state"]?.message || status["state"]?.reason) && <Field name={T.columns.why}><Message text={[status["state"].reason, status["state"].message].filter(Boolean).join(": ")} /></Field>}
            <Field name={T.columns.took}><Took from={started} to={over ? changed : 0} running={!over} /></Field>
            <Field name={T.queue}><Name name={spec["queue"] ?? "default"} /></Field>
            <Field name={T.gangNeeds}>{T.pods(spec["minAvailable"] ?? 1)}</Field>
            {(status["retryCount"] ?? 0) > 0 && <Field name={T.restartsTitle}>{status["retryCount"]} / {spec["maxRetry"] ?? 3}</Field>}
            {policies.length > 0 && <Field name={T.policies}>{policies.map((policy) => <span class="block">{policy.event ?? policy.events?.join(", ") ?? `exit code ${policy.exitCode}`} → {policy.action}</span>)}</Field>}
            {spec["plugins"] && <Field name={T.plugins}>{Object.keys(spec["plugins"]).join(", ")}</Field>}
            <Field name={T.tasks}><Tasks document={document} /></Field>
        </>
    );
}

function TemplateOverview({ document, ns }: { document: ObjectDocument; ns: string }) {
    const jobs: string[] = document.status?.["jobDependsOnList"] ?? [];
    const tasks: { name?: string; replicas?: number }[] = document.spec?.["tasks"] ?? [];
    return (
        <>
            <Field name={T.tasks}>{tasks.map((task) => <span class="pair"><Name name={task.name ?? ""} /> × {task.replicas ?? 1}</span>)}</Field>
            <Field name={T.usedBy}>{jobs.length === 0 ? <span class="faint">{T.noJobs}</span> : jobs.slice(0, 100).map((job) => <span class="block"><a href={objectHref("jobs", ns, job)}><Name name={job} /></a></span>)}{jobs.length > 100 && <span class="faint">{T.more(jobs.length - 100)}</span>}</Field>
            <Field name={T.change}><a href={hrefOf("/ui/new", [["edit", `jobtemplates/${ns}/${document.metadata.name}`]])}>{T.edit}</a></Field>
        </>
    );
}

/* The pods of a job, or the pod itself, with their logs. */
function useLogs(page: Page, ns: string, name: string, document: ObjectDocument | null, version: number): Answer<StepPods> {
    const ask = async (signal: AbortSignal): Promise<StepPods> => {
        if (page === "jobs") return fetchPods(ns, [name], signal);
        const pod = podOf(document as Parameters<typeof podOf>[0]);
        return { pods: [pod], logs: logsOf(ns, [pod]) };
    };
    return useAnswer(document && (page === "jobs" || page === "pods") ? `${page} ${ns}/${name}` : "", ask, version);
}

export function ObjectPage({ page, ns, name }: { page: Page; ns: string; name: string }) {
    const { query } = useSignal(route);
    const { value: document, version, error } = useObject(page, ns, name);
    const { value: pods, error: podsError } = useLogs(page, ns, name, document, version);
    const gone = error instanceof ApiError && error.code === 404;
    const tabs = TABS[page];
    const tab = tabs.find((other) => other === query.get("tab")) ?? "overview";
    const phase: string = document?.status?.["state"]?.phase ?? document?.status?.["phase"] ?? "";
    setTitle(name);
    const readable = () => {
        const { managedFields: _, ...metadata } = document!.metadata;
        return toYaml({ ...document, metadata });
    };
    const created = parseTime(document?.metadata.creationTimestamp);
    const eventNames = [name, ...(page === "jobs" ? (pods?.pods ?? []).flatMap((pod) => [pod.name, ...(pod.group ? [pod.group] : [])]) : [])];
    return (
        <main id="content" class="fill">
            <header class="head"><div class="line-1">
                <a class="faint" href={hrefOf(`/ui/${page}`)}>{T.objects[page]}</a><span class="faint">/ <Name name={ns} /> /</span><h1><Name name={name} /></h1>
                {phase && <Phase phase={phase} />}
                {created > 0 && <span class="faint">{T.created} <Moment ms={created}>{clockTime(created, now())}</Moment></span>}
            </div></header>
            {gone && <p class="note">{T.objectGone}</p>}
            {error && !gone && <p class="note bad"><Message text={error.message} /></p>}
            {!document && !error && <p class="note faint">{T.loading}</p>}
            {document && (
                <>
                    <nav class="tabs under" aria-label={T.view}>{tabs.map((id) => <button type="button" aria-current={id === tab} onClick={() => setQuery({ tab: id === "overview" ? "" : id, log: "" })}>{T.tabs[id]}</button>)}</nav>
                    <div class={`body ${tab}`}>
                        <Boundary key={tab}>
                            {tab === "overview" && (
                                <dl class="fields">
                                    <Origin document={document} ns={ns} />
                                    {page === "jobs" && <JobOverview document={document} />}
                                    {page === "templates" && <TemplateOverview document={document} ns={ns} />}
                                    {page === "schedules" && <ScheduleOverview document={document} ns={ns} makes="jobs" />}
                                    {page === "triggers" && <ScheduleOverview document={document} ns={ns} makes="flows" />}
                                    {page === "pods" && pods?.pods[0] && <Field name={T.containers}><PodCard pod={pods.pods[0]} /></Field>}
                                    {Object.keys(document.metadata.labels ?? {}).length > 0 && <Field name={T.labels}>{Object.entries(document.metadata.labels ?? {}).map(([key, value]) => <span class="pair"><Name name={key} />=<Message text={value} /></span>)}</Field>}
                                    {CHANGES[page] && <Field name={T.change}><Command text={`jobflow ${CHANGES[page]![0]} ${shellWord(`${CHANGES[page]![1]}/${name}`)}${ns === "default" ? "" : ` -n ${shellWord(ns)}`}`} /></Field>}
                                </dl>
                            )}
                            {tab === "logs" && <LogOfPods pods={pods} reason={podsError?.message || (pods ? T.noLogKept : T.loading)} why="" />}
                            {tab === "pods" && (pods?.pods.length ? pods.pods.map((pod) => <PodCard key={pod.uid} pod={pod} href={objectHref("pods", ns, pod.name)} />) : <p class="note">{podsError || T.noPods}</p>)}
                            {tab === "events" && <EventList ns={ns} names={eventNames} version={version} />}
                            {tab === "spec" && <section class="card"><h3>YAML <CopyButton text={readable} /></h3><pre class="yaml" tabIndex={0}>{readable()}</pre></section>}
                        </Boundary>
                    </div>
                </>
            )}
        </main>
    );
}
