/* What nodes have, who has it, and who waits for it. */
import { parseQuantity } from "../core/quantity";

type Amounts = Record<string, unknown>;

export interface NodeObject {
    metadata: { name: string };
    status?: { allocatable?: Amounts; capacity?: Amounts; conditions?: { type: string; status: string }[] };
}

export interface PodObject {
    metadata: { name: string; namespace?: string };
    spec?: { nodeName?: string; containers?: { resources?: { requests?: Amounts } }[]; initContainers?: { resources?: { requests?: Amounts } }[] };
    status?: { phase?: string };
}

export interface Share {
    ns: string;
    name: string;
    amount: number;
}

export interface Room {
    resource: string;
    all: number;
    used: number;
    /** The pods that have most of it first. */
    holders: Share[];
}

/** What a pod asks for of a resource: its containers together, or one of its initial containers if that asks for more. */
export function requestOf(pod: PodObject, resource: string): number {
    if (resource === "pods") return 1;
    const of = (list: { resources?: { requests?: Amounts } }[] | undefined) => (list ?? []).map((container) => parseQuantity(container.resources?.requests?.[resource]));
    return Math.max(of(pod.spec?.containers).reduce((sum, n) => sum + n, 0), 0, ...of(pod.spec?.initContainers));
}

const isOver = (pod: PodObject) => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";

/** The resources of a node, with the pods that hold them. */
export function roomsOf(node: NodeObject, pods: readonly PodObject[]): Room[] {
    const own = pods.filter((pod) => pod.spec?.nodeName === node.metadata.name && !isOver(pod));
    return Object.entries(node.status?.allocatable ?? node.status?.capacity ?? {}).map(([resource, amount]) => {
        const holders = own.map((pod): Share => ({ ns: pod.metadata.namespace ?? "", name: pod.metadata.name, amount: requestOf(pod, resource) })).filter((share) => share.amount > 0).sort((a, b) => b.amount - a.amount);
        return { resource, all: parseQuantity(amount), used: holders.reduce((sum, share) => sum + share.amount, 0), holders };
    }).filter((room) => room.all > 0 || room.used > 0);
}

export interface QueueObject {
    metadata: { name: string };
    spec?: { parent?: string; weight?: number; priority?: number; capability?: Amounts; guarantee?: { resource?: Amounts }; deserved?: Amounts };
    status?: { state?: string; allocated?: Amounts; running?: number; pending?: number; inqueue?: number };
}

export interface QueueRow {
    depth: number;
    queue: QueueObject;
}

/** The queues as a tree, in the order of their names. Queues whose parent is not there stand at the top. */
export function queueTree(queues: readonly QueueObject[]): QueueRow[] {
    const sorted = [...queues].sort((a, b) => a.metadata.name.localeCompare(b.metadata.name));
    const names = new Set(sorted.map((queue) => queue.metadata.name));
    const out: QueueRow[] = [];
    const seen = new Set<string>();
    const add = (queue: QueueObject, depth: number) => {
        if (seen.has(queue.metadata.name)) return;
        seen.add(queue.metadata.name);
        out.push({ depth, queue });
        for (const child of sorted) if (child.spec?.parent === queue.metadata.name) add(child, depth + 1);
    };
    for (const queue of sorted) if (!queue.spec?.parent || !names.has(queue.spec.parent)) add(queue, 0);
    for (const queue of sorted) add(queue, 0); /* those on a cycle */
    return out;
}

export interface GroupObject {
    metadata: { name: string; namespace?: string; creationTimestamp?: string; ownerReferences?: { kind: string; name: string }[] };
    spec?: { minMember?: number; queue?: string; minResources?: Amounts; priorityClassName?: string };
    status?: { phase?: string; conditions?: { type: string; status: string; reason?: string; message?: string }[] };
}

/** Whether a group of pods has not been admitted or has no room yet. */
export function isWaiting(group: GroupObject): boolean {
    const phase = group.status?.phase || "Pending";
    return phase === "Pending" || phase === "Inqueue" || phase === "Unknown";
}

/** What the group needs, without the amounts that say the same once more. */
export function needsOf(group: GroupObject): [string, number][] {
    return Object.entries(group.spec?.minResources ?? {}).filter(([resource]) => !/^(?:count\/|requests\.)/.test(resource)).map(([resource, amount]) => [resource, parseQuantity(amount)]);
}
