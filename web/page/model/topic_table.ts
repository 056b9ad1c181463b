/*
 * The rows of a table topic, by key, from its lines. What stood there stays until the rows after a
 * `reset` are complete.
 */

/** A row as the stream sends it. */
export interface TopicRow {
    key: string;
    cells: unknown[];
    object?: { metadata?: { name?: string; namespace?: string; resourceVersion?: string; creationTimestamp?: string; labels?: Record<string, string>; ownerReferences?: { kind: string; name: string }[] } };
}

export interface Column {
    name: string;
    /** Columns of priority 1 are shown on demand. */
    priority: number;
}

export interface TopicState<Row> {
    columns: readonly Column[];
    rows: ReadonlyMap<string, Row>;
    ready: boolean;
    waiting: string;
    error: string;
}

const text = (value: unknown) => (typeof value === "string" ? value : "");

export class TopicTable<Row> {
    private columns: Column[] = [];
    private rows = new Map<string, Row>();
    private filling: Map<string, Row> | null = null;
    private ready = false;

    /** `rowOf` reads a row; `columns` are the names of its cells. */
    constructor(private readonly rowOf: (columns: readonly string[], row: TopicRow) => Row) {}

    take(line: Record<string, unknown>): TopicState<Row> {
        if (line["reset"]) {
            this.columns = (Array.isArray(line["columns"]) ? line["columns"] : []).map((column: { name?: unknown; priority?: unknown }) => ({ name: text(column?.name), priority: Number(column?.priority) || 0 }));
            this.filling = new Map();
        }
        const into = this.filling ?? this.rows;
        const names = this.columns.map((column) => column.name);
        for (const row of (line["rows"] as TopicRow[] | undefined) ?? []) into.set(row.key, this.rowOf(names, row));
        for (const key of (line["gone"] as string[] | undefined) ?? []) into.delete(key);
        if (line["ready"]) {
            if (this.filling) this.rows = this.filling;
            this.filling = null;
            this.ready = true;
        }
        return { columns: this.columns, rows: this.ready ? new Map(this.rows) : new Map(), ready: this.ready, waiting: text(line["waiting"]), error: text(line["error"]) };
    }
}
