/* Lists of jobs, pods and templates: the columns of the server's Table, with filter and order. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { me } from "../core/api";
import { now } from "../core/clock";
import { parseFilter } from "../core/filter";
import { count } from "../core/format";
import { bindKeys } from "../core/keys";
import { go, here, hrefOf, objectHref, route, setQuery } from "../core/route";
import { useSignal } from "../core/signal";
import { subscribe } from "../core/stream";
import { T } from "../core/text";
import { compareKeys, OBJECT_FIELDS, OBJECT_KINDS, objectRow, searchableObject, sortKey, type ObjectRow } from "../model/objects";
import { TopicTable, type TopicState } from "../model/topic_table";
import { Ago, Command, Message, Name, Phase, Sign } from "./parts";
import { setTitle } from "./title";
import { VirtualTable, type Column } from "./virtual";

const ROW_HEIGHT = 30;

const EMPTY: TopicState<ObjectRow> = { columns: [], rows: new Map(), ready: false, waiting: "", error: "" };

/** The rows of a resource in all namespaces, or in one where the user may not list all. */
export function useObjects(resource: string): TopicState<ObjectRow> {
    const known = useSignal(me);
    const [scope, setScope] = useState("*");
    const [state, setState] = useState(EMPTY);
    useEffect(() => {
        const table = new TopicTable(objectRow);
        return subscribe(`objects ${resource} ${scope}`, (line) => {
            if (typeof line["error"] === "string" && scope === "*" && known?.namespace) return setScope(known.namespace);
            return setState(table.take(line));
        });
    }, [resource, scope]);
    return state;
}

function Cell({ row, column }: { row: ObjectRow; column: string }) {
    const value = row.cells.get(column.toLowerCase()) ?? "";
    if (column === "Age") return <Ago ms={row.created} />;
    if (column === "Status") return <Phase phase={value} />;
    if (value === "<none>" || value === "") return <span class="faint">–</span>;
    return <Message text={value} />;
}

function StatusCounts({ rows, chosen }: { rows: ObjectRow[]; chosen: string }) {
    const counts = new Map<string, number>();
    for (const row of rows) if (row.status) counts.set(row.status, (counts.get(row.status) ?? 0) + 1);
    return (
        <div class="chips">
            {[...counts].sort().map(([status, n]) => (
                <button type="button" class="chip" aria-pressed={chosen === status} onClick={() => setQuery({ state: chosen === status ? "" : status })}><Sign phase={status} size={14} /> {status} <b>{count(n)}</b></button>
            ))}
        </div>
    );
}

export function ObjectsPage({ page }: { page: keyof typeof OBJECT_KINDS }) {
    const kind = OBJECT_KINDS[page];
    const { query } = useSignal(route);
    const state = useObjects(kind.resource);
    const search = useRef<HTMLInputElement>(null);
    const [q, status, sort, down] = [query.get("q") ?? "", query.get("state") ?? "", query.get("sort") || "Age", query.get("down") === "1"];
    const filter = useMemo(() => parseFilter(q, OBJECT_FIELDS), [q]);
    const rows = useMemo(() => {
        const sign = down ? -1 : 1;
        return [...state.rows.values()].sort((a, b) => sign * compareKeys(sortKey(a, sort), sortKey(b, sort)) || a.key.localeCompare(b.key));
    }, [state, sort, down]);
    const shown = rows.filter((row) => (!status || row.status === status) && filter.matches(searchableObject(row, now())));
    const columns = kind.columns.filter((name) => name === "Namespace" || state.columns.some((column) => column.name.toLowerCase() === name.toLowerCase()));
    const table: Column[] = columns.map((name) => ({ id: name, title: T.objectColumns[name] ?? name, class: `o-${name.toLowerCase().replaceAll(" ", "-")}` }));
    setTitle(T.objects[page]);
    useEffect(() => bindKeys([{ keys: "/", does: T.keySearch, run: () => search.current?.focus() }]), []);
    const onSort = (id: string) => setQuery({ sort: id === "Age" ? "" : id, down: id === sort && !down ? "1" : "" });
    return (
        <main id="content" class="fill">
            <div class="tools">
                <h1>{T.objects[page]}</h1>
                <input ref={search} type="search" class="search" aria-label={T.filter} placeholder={T.filterObjects} value={q} aria-invalid={filter.error !== ""} onInput={(event) => setQuery({ q: event.currentTarget.value }, true)} />
                <StatusCounts rows={rows} chosen={status} />
            </div>
            {filter.error && <p class="note bad">{filter.error}</p>}
            {state.waiting && <p class="note bad"><Message text={T.waitingServer(state.waiting)} /></p>}
            {state.error && <p class="note bad"><Message text={state.error} /></p>}
            {!state.ready && !state.error && <p class="note faint">{T.loading}</p>}
            {state.ready && rows.length === 0 && <div class="note"><p>{T.noObjects[page]}</p><Command text={T.noObjectsCommand[page]} /></div>}
            {rows.length > 0 && shown.length === 0 && <p class="note">{T.noMatch} <a href={hrefOf(here())}>{T.dropFilter}</a></p>}
            {shown.length > 0 && (
                <VirtualTable label={T.objects[page]} class="objects" columns={table} count={shown.length} rowHeight={ROW_HEIGHT} sort={{ by: sort, down, onSort }}
                    row={(i) => {
                        const row = shown[i]!;
                        const href = objectHref(page, row.ns, row.name);
                        return (
                            <tr key={row.key} aria-rowindex={i + 2} onClick={(event) => { if (!(event.target as Element).closest("a")) go(href); }}>
                                {columns.map((name, at) => (
                                    <td class={table[at]!.class}>{name === "Name" ? <a href={href}><Name name={row.name} /></a> : name === "Namespace" ? <Name name={row.ns} /> : <Cell row={row} column={name} />}</td>
                                ))}
                            </tr>
                        );
                    }} />
            )}
        </main>
    );
}
