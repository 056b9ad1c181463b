/* Pods of a step's jobs, and the logs that can be read of them: those of pods that are there, and those kept of pods that are gone. */
import { apiPath, getJson } from "../core/api";
import { parseTime } from "../core/format";
import type { LogSource } from "./log";

interface ContainerState {
    waiting?: { reason?: string; message?: string };
    running?: { startedAt?: string };
    terminated?: { exitCode?: number; reason?: string; message?: string; startedAt?: string; finishedAt?: string };
}

interface PodObject {
    metadata: { name: string; uid?: string; creationTimestamp?: string; annotations?: Record<string, string> };
    spec?: { nodeName?: string; containers?: { name: string }[]; initContainers?: { name: string }[] };
    status?: {
        phase?: string;
        reason?: string;
        message?: string;
        podIP?: string;
        containerStatuses?: { name: string; ready?: boolean; restartCount?: number; state?: ContainerState }[];
        initContainerStatuses?: { name: string; ready?: boolean; restartCount?: number; state?: ContainerState }[];
    };
}

interface KeptLog {
    metadata: { name: string };
    status?: { pod?: string; uid?: string; attempt?: number; phase?: string; bytes?: number; containers?: { name: string }[] };
}

export interface Container {
    name: string;
    init: boolean;
    restarts: number;
    running: boolean;
    exitCode: number | null;
    /** Why it waits or has ended. */
    reason: string;
    message: string;
}

export interface Pod {
    name: string;
    uid: string;
    phase: string;
    node: string;
    address: string;
    reason: string;
    message: string;
    createdMs: number;
    /** Name of its PodGroup. */
    group: string;
    containers: Container[];
}

export interface StepPods {
    pods: Pod[];
    logs: LogSource[];
}

function containersOf(pod: PodObject): Container[] {
    const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
    const named = [...(pod.spec?.initContainers ?? []).map((c) => ({ name: c.name, init: true })), ...(pod.spec?.containers ?? []).map((c) => ({ name: c.name, init: false }))];
    return named.map(({ name, init }) => {
        const status = statuses.find((other) => other.name === name);
        const state = status?.state ?? {};
        return {
            name, init,
            restarts: status?.restartCount ?? 0,
            running: state.running !== undefined,
            exitCode: state.terminated?.exitCode ?? null,
            reason: state.terminated?.reason ?? state.waiting?.reason ?? "",
            message: state.terminated?.message ?? state.waiting?.message ?? "",
        };
    });
}

export function podOf(pod: PodObject): Pod {
    return {
        name: pod.metadata.name,
        uid: pod.metadata.uid ?? "",
        phase: pod.status?.phase ?? "Pending",
        node: pod.spec?.nodeName ?? "",
        address: pod.status?.podIP ?? "",
        reason: pod.status?.reason ?? "",
        message: pod.status?.message ?? "",
        createdMs: parseTime(pod.metadata.creationTimestamp),
        group: pod.metadata.annotations?.["scheduling.k8s.io/group-name"] ?? "",
        containers: containersOf(pod),
    };
}

/* Which log is opened first: that of a container that failed, else one that runs, else one that ended. */
function rank(pod: Pod, container: Container): number {
    if (container.exitCode !== null && container.exitCode !== 0) return 0;
    if (container.running) return 1;
    return container.exitCode === null ? 3 : pod.phase === "Failed" ? 1.5 : 2;
}

/** The logs of pods that are there, the most telling first; containers that have not started have none. */
export function logsOf(ns: string, pods: readonly Pod[]): LogSource[] {
    return pods.flatMap((pod) => pod.containers.map((container) => ({ pod, container })))
        .filter(({ container }) => container.running || container.exitCode !== null)
        .sort((a, b) => rank(a.pod, a.container) - rank(b.pod, b.container))
        .map(({ pod, container }) => ({
            key: `${pod.uid}/${container.name}`,
            label: pod.containers.length > 1 ? `${pod.name} · ${container.name}` : pod.name,
            path: `${apiPath("", "v1", ns, "pods", pod.name, "log")}?container=${encodeURIComponent(container.name)}`,
            live: !REPORT && container.running,
        }));
}

/** Asks for the pods of jobs and for kept logs. `selector` has the names of the jobs. */
export async function fetchPods(ns: string, jobs: readonly string[], signal: AbortSignal): Promise<StepPods> {
    if (jobs.length === 0) return { pods: [], logs: [] };
    const selector = new URLSearchParams([["labelSelector", `volcano.sh/job-name in (${jobs.slice(0, 50).join(",")})`], ["limit", "200"]]);
    const [live, kept] = await Promise.all([
        getJson<{ items?: PodObject[] }>(`${apiPath("", "v1", ns, "pods")}?${selector}`, signal),
        getJson<{ items?: KeptLog[] }>(`${apiPath("jobflow.dev", "v1", ns, "podlogs")}?${selector}`, signal).catch(() => ({ items: [] as KeptLog[] })),
    ]);
    const pods = (live.items ?? []).map(podOf);
    const there = new Set(pods.map((pod) => pod.uid));
    const gone = (kept.items ?? []).filter((log) => !there.has(log.status?.uid ?? "")).sort((a, b) => (b.status?.attempt ?? 0) - (a.status?.attempt ?? 0));
    const keptLogs = gone.flatMap((log) => (log.status?.containers ?? []).map((container, _, all): LogSource => ({
        key: `${log.status?.uid ?? log.metadata.name}/${container.name}`,
        label: `${log.status?.pod ?? log.metadata.name}${all.length > 1 ? ` · ${container.name}` : ""}, attempt ${log.status?.attempt ?? "?"}`,
        path: `${apiPath("jobflow.dev", "v1", ns, "podlogs", log.metadata.name, "log")}?container=${encodeURIComponent(container.name)}`,
        live: false,
    })));
    return { pods, logs: [...logsOf(ns, pods), ...keptLogs] };
}
