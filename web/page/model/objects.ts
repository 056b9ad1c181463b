/* Kinds of objects that have a list of their own: where they are, and what a row of their Table says. */
import type { Searchable } from "../core/filter";
import { parseTime } from "../core/format";
import type { TopicRow } from "./topic_table";

export const OBJECT_PAGES = ["jobs", "pods", "templates", "schedules", "triggers"] as const;
export type ObjectPage = (typeof OBJECT_PAGES)[number];

export interface ObjectKind {
    page: ObjectPage;
    /** Plural name in the API and in topics. */
    resource: string;
    group: string;
    version: string;
    /** Columns that are shown, if the server has them, in this order. */
    columns: string[];
}

export const OBJECT_KINDS: Record<ObjectPage, ObjectKind> = {
    jobs: { page: "jobs", resource: "jobs", group: "batch.volcano.sh", version: "v1alpha1", columns: ["Status", "Name", "Namespace", "Queue", "MinAvailable", "Runnings", "Age"] },
    pods: { page: "pods", resource: "pods", group: "", version: "v1", columns: ["Status", "Name", "Namespace", "Ready", "Restarts", "Node", "CPU Time", "Memory Peak", "Age"] },
    templates: { page: "templates", resource: "jobtemplates", group: "flow.volcano.sh", version: "v1alpha1", columns: ["Name", "Namespace", "Age"] },
    schedules: { page: "schedules", resource: "cronjobs", group: "batch.volcano.sh", version: "v1alpha1", columns: ["Name", "Namespace", "Schedule", "Timezone", "Suspend", "Age"] },
    triggers: { page: "triggers", resource: "flowtriggers", group: "flow.volcano.sh", version: "v1alpha1", columns: ["Name", "Namespace", "Cron", "Next", "Suspend", "Pending", "Reason", "Age"] },
};

export interface ObjectRow {
    key: string;
    ns: string;
    name: string;
    created: number;
    labels: Record<string, string>;
    /** The cells by the names of their columns in lower case: servers write them as they like. */
    cells: ReadonlyMap<string, string>;
    status: string;
}

export function objectRow(columns: readonly string[], row: TopicRow): ObjectRow {
    const meta = row.object?.metadata ?? {};
    const slash = row.key.indexOf("/");
    const cells = new Map(columns.map((name, at): [string, string] => [name.toLowerCase(), row.cells[at] === null || row.cells[at] === undefined ? "" : String(row.cells[at])]));
    return {
        key: row.key,
        ns: meta.namespace ?? row.key.slice(0, Math.max(0, slash)),
        name: meta.name ?? row.key.slice(slash + 1),
        created: parseTime(meta.creationTimestamp),
        labels: meta.labels ?? {},
        cells,
        status: cells.get("status") || cells.get("phase") || "",
    };
}

export const OBJECT_FIELDS = { state: "text", ns: "text", queue: "text", node: "text", label: "text", age: "duration" } as const;

/** What the filter sees of a row. */
export function searchableObject(row: ObjectRow, now: number): Searchable {
    return {
        text: `${row.name} ${row.ns} ${[...row.cells.values()].join(" ")}`.toLowerCase(),
        fields: {
            state: row.status, ns: row.ns, queue: row.cells.get("queue"), node: row.cells.get("node"),
            label: Object.entries(row.labels).map(([key, value]) => `${key}=${value}`).join(" "), age: row.created ? now - row.created : undefined,
        },
    };
}

/** The value of a column for sorting. */
export function sortKey(row: ObjectRow, column: string): string | number {
    if (column === "Name") return row.name;
    if (column === "Namespace") return row.ns;
    if (column === "Age") return -row.created;
    const cell = row.cells.get(column.toLowerCase()) ?? "";
    return /^-?\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell;
}

/** Orders two keys: numbers before texts, texts with numbers in them by these. */
export function compareKeys(a: string | number, b: string | number): number {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return String(a).localeCompare(String(b), undefined, { numeric: true });
}
