/* The room there is, who has it, who waits for it and why, and the queues. */
import { useAnswer, type Answer } from "../core/answer";
import { apiPath, getJson, me } from "../core/api";
import { parseTime } from "../core/format";
import { listAll } from "../core/list";
import { objectHref } from "../core/route";
import { quantityText } from "../core/quantity";
import { useSignal } from "../core/signal";
import { subscribe } from "../core/stream";
import { T } from "../core/text";
import { isWaiting, needsOf, queueTree, roomsOf, type GroupObject, type NodeObject, type PodObject, type QueueObject, type Room } from "../model/capacity";
import { Ago, Message, Name, Phase } from "./parts";
import { setTitle } from "./title";

const HOLDERS = 8; /* pods that are listed below a bar */
const WAITING = 200; /* groups that are listed */
const PAUSE_MS = 500;

interface EventObject {
    involvedObject?: { name?: string; namespace?: string };
    reason?: string;
    message?: string;
    lastTimestamp?: string | null;
    eventTime?: string | null;
    metadata: { creationTimestamp?: string };
}

interface Capacity {
    nodes: NodeObject[];
    pods: PodObject[];
    groups: GroupObject[];
    queues: QueueObject[];
    reasons: Map<string, string>;
    /* What could not be read, or not as a whole, as sentences. */
    missing: string[];
}

/* Newest sentence of the scheduler about each group that waits. */
function reasonsOf(events: EventObject[]): Map<string, string> {
    const at = (event: EventObject) => parseTime(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp);
    return new Map([...events].sort((a, b) => at(a) - at(b)).map((event) => [`${event.involvedObject?.namespace ?? ""}/${event.involvedObject?.name ?? ""}`, event.message ?? ""]));
}

/* The pods that hold room: of those that are over there may be a hundred thousand. */
const HOLDING = "&fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

async function load(signal: AbortSignal): Promise<Capacity> {
    const missing: string[] = [];
    const list = async <Item,>(group: string, version: string, resource: string, query = "") => {
        const path = apiPath(group, version, "", resource);
        const { items, cut, refused } = await listAll<Item>((more) => getJson(path + more, signal), query);
        if (refused) missing.push(T.listRefused(resource, refused));
        else if (cut) missing.push(T.listCut(resource, items.length));
        return items;
    };
    const [nodes, pods, groups, queues, events] = await Promise.all([
        list<NodeObject>("", "v1", "nodes"),
        list<PodObject>("", "v1", "pods", HOLDING),
        list<GroupObject>("scheduling.volcano.sh", "v1beta1", "podgroups"),
        list<QueueObject>("scheduling.volcano.sh", "v1beta1", "queues"),
        list<EventObject>("", "v1", "events", "&fieldSelector=reason%3DUnschedulable"),
    ]);
    return { nodes, pods, groups, queues, reasons: reasonsOf(events), missing };
}

/* The capacity, asked for again when pods, groups or queues change. */
function useCapacity(): Answer<Capacity> {
    const server = useSignal(me)?.server.kind;
    const listen = (changed: () => void) => {
        const take = (line: Record<string, unknown>) => { if (line["rows"] || line["gone"]) changed(); };
        const stops = ["objects pods *", "objects podgroups *", "objects queues *"].map((topic) => subscribe(topic, take));
        return () => stops.forEach((stop) => stop());
    };
    return useAnswer("capacity", load, server, { listen, pause: PAUSE_MS });
}

function RoomBar({ room }: { room: Room }) {
    const amount = (n: number) => quantityText(room.resource, n);
    const label = T.roomText(room.resource, amount(room.used), amount(room.all), amount(Math.max(0, room.all - room.used)));
    return (
        <li>
            <span class="room-name">{room.resource}</span>
            <span class="progress" role="img" aria-label={label}>
                {room.holders.slice(0, 200).map((share) => <span class="part b-running" title={`${share.ns}/${share.name}: ${amount(share.amount)}`} style={{ width: `${(100 * share.amount) / Math.max(room.all, room.used)}%` }} />)}
            </span>
            <span class="bar-text">{label}</span>
            {room.holders.length > 0 && (
                <details>
                    <summary>{T.holders(room.holders.length)}</summary>
                    {room.holders.slice(0, HOLDERS).map((share) => <span class="pair"><a href={objectHref("pods", share.ns, share.name)}><Name name={share.name} /></a> {amount(share.amount)}</span>)}
                    {room.holders.length > HOLDERS && <span class="faint">{T.more(room.holders.length - HOLDERS)}</span>}
                </details>
            )}
        </li>
    );
}

function Waiting({ groups, reasons }: { groups: GroupObject[]; reasons: Map<string, string> }) {
    if (groups.length === 0) return <p class="faint">{T.nobodyWaits}</p>;
    return (
        <table class="plain wide">
            <thead><tr><th scope="col">{T.job}</th><th scope="col">{T.queue}</th><th scope="col">{T.since}</th><th scope="col">{T.needs}</th><th scope="col">{T.columns.why}</th></tr></thead>
            <tbody>
                {groups.slice(0, WAITING).map((group) => {
                    const { name, namespace = "", ownerReferences } = group.metadata;
                    const job = ownerReferences?.find((owner) => owner.kind === "Job")?.name;
                    return (
                        <tr>
                            <th scope="row">{job ? <a href={objectHref("jobs", namespace, job)}><Name name={job} /></a> : <Name name={name} />} <span class="faint"><Name name={namespace} /></span></th>
                            <td><Name name={group.spec?.queue ?? "default"} /></td>
                            <td><Ago ms={parseTime(group.metadata.creationTimestamp)} /></td>
                            <td>{T.pods(group.spec?.minMember ?? 1)}{needsOf(group).filter(([resource]) => resource !== "pods").map(([resource, amount]) => `, ${quantityText(resource, amount)} ${resource}`).join("")}</td>
                            <td><Message text={reasons.get(`${namespace}/${name}`) || group.status?.conditions?.find((one) => one.type === "Unschedulable")?.message || T.notAsked} /></td>
                        </tr>
                    );
                })}
            </tbody>
        </table>
    );
}

function amountsText(amounts: Record<string, unknown> | undefined): string {
    return Object.entries(amounts ?? {}).map(([resource, amount]) => `${resource} ${String(amount)}`).join(", ");
}

function Queues({ queues }: { queues: QueueObject[] }) {
    return (
        <table class="plain wide">
            <thead><tr><th scope="col">{T.queue}</th><th scope="col">{T.columns.state}</th><th scope="col">{T.weight}</th><th scope="col">{T.used}</th><th scope="col">{T.guarantee}</th><th scope="col">{T.capability}</th><th scope="col">{T.deserved}</th><th scope="col">{T.objectColumns["Runnings"]}</th></tr></thead>
            <tbody>
                {queueTree(queues).map(({ depth, queue }) => (
                    <tr>
                        <th scope="row"><span style={{ paddingLeft: `${depth * 18}px` }}>{depth > 0 && <span class="faint" aria-hidden="true">└ </span>}<Name name={queue.metadata.name} /></span></th>
                        <td>{queue.status?.state && queue.status.state !== "Open" ? <Phase phase={queue.status.state} /> : <span class="faint">{queue.status?.state ?? ""}</span>}</td>
                        <td>{queue.spec?.weight ?? ""}{queue.spec?.priority ? ` · ${T.priority(queue.spec.priority)}` : ""}</td>
                        <td>{amountsText(queue.status?.allocated)}</td>
                        <td>{amountsText(queue.spec?.guarantee?.resource)}</td>
                        <td>{amountsText(queue.spec?.capability)}</td>
                        <td>{amountsText(queue.spec?.deserved)}</td>
                        <td>{queue.status?.running ?? ""}</td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

export function QueuesPage() {
    const { value: capacity, error } = useCapacity();
    setTitle(T.queues);
    const waiting = (capacity?.groups ?? []).filter(isWaiting).sort((a, b) => parseTime(a.metadata.creationTimestamp) - parseTime(b.metadata.creationTimestamp));
    return (
        <main id="content" class="scroll">
            <h1>{T.queuesAndRoom}</h1>
            {error && <p class="note bad"><Message text={error.message} /></p>}
            {!capacity && !error && <p class="faint">{T.loading}</p>}
            {capacity && (
                <>
                    {capacity.missing.map((text) => <p class="note bad" role="alert"><Message text={text} /></p>)}
                    {capacity.nodes.map((node) => (
                        <section class="card">
                            <h2>{T.node} <Name name={node.metadata.name} /></h2>
                            <ul class="rooms">{roomsOf(node, capacity.pods).map((room) => <RoomBar key={room.resource} room={room} />)}</ul>
                        </section>
                    ))}
                    {capacity.nodes.length === 0 && capacity.missing.length === 0 && <p class="note">{T.noNodes}</p>}
                    <section class="card"><h2>{T.whoWaits(waiting.length)}</h2><Waiting groups={waiting} reasons={capacity.reasons} />{waiting.length > WAITING && <p class="faint">{T.more(waiting.length - WAITING)}</p>}</section>
                    <section class="card scroll-x" tabIndex={0} aria-label={T.queuesTitle}><h2>{T.queuesTitle}</h2><Queues queues={capacity.queues} /></section>
                </>
            )}
        </main>
    );
}
