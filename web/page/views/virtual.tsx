/* A real table of which only the rows on the screen are in the document. All rows have one height. */
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Column {
    id: string;
    title: string;
    /** What the header does: sorts by this column, unless false. */
    sortable?: boolean;
    class?: string;
}

interface Props {
    label: string;
    columns: readonly Column[];
    count: number;
    rowHeight: number;
    sort?: { by: string; down: boolean; onSort(by: string): void };
    /** The cells of row `at`; its key; its attributes. */
    row(at: number): VNode;
    /** Row that must be in view; a change scrolls there. */
    reveal?: number;
    class?: string;
    onRange?(first: number, last: number): void;
    children?: ComponentChildren;
}

const OVERSCAN = 6;

export function VirtualTable(props: Props) {
    const box = useRef<HTMLDivElement>(null);
    const [range, setRange] = useState({ top: 0, height: 800 });
    const { count, rowHeight, reveal } = props;
    useLayoutEffect(() => {
        const element = box.current!;
        const measure = () => setRange({ top: element.scrollTop, height: element.clientHeight });
        const observer = new ResizeObserver(measure);
        observer.observe(element);
        element.addEventListener("scroll", measure, { passive: true });
        measure();
        return () => {
            observer.disconnect();
            element.removeEventListener("scroll", measure);
        };
    }, []);
    useEffect(() => {
        if (reveal === undefined || reveal < 0) return;
        const element = box.current!;
        const top = reveal * rowHeight;
        const room = element.clientHeight - 2 * rowHeight;
        if (top < element.scrollTop) element.scrollTop = top;
        else if (top > element.scrollTop + room) element.scrollTop = top - room;
    }, [reveal, rowHeight]);
    const first = Math.max(0, Math.min(count, Math.floor(range.top / rowHeight) - OVERSCAN));
    const last = Math.min(count, Math.ceil((range.top + range.height) / rowHeight) + OVERSCAN);
    useEffect(() => props.onRange?.(first, last), [first, last, count]);
    const rows = [];
    for (let at = first; at < last; at++) rows.push(props.row(at));
    const spacer = (height: number, key: string) => height > 0 && <tr key={key} class="spacer" aria-hidden="true"><td colSpan={props.columns.length} style={{ height: `${height}px` }} /></tr>;
    return (
        <div class={`table ${props.class ?? ""}`} ref={box} tabIndex={-1}>
            <table aria-label={props.label} aria-rowcount={count + 1}>
                <thead>
                    <tr aria-rowindex={1}>
                        {props.columns.map((column) => <Header column={column} sort={props.sort} />)}
                    </tr>
                </thead>
                <tbody>
                    {spacer(first * rowHeight, "above")}
                    {rows}
                    {spacer((count - last) * rowHeight, "below")}
                </tbody>
            </table>
            {props.children}
        </div>
    );
}

function Header({ column, sort }: { column: Column; sort: Props["sort"] }) {
    const chosen = sort?.by === column.id;
    const direction = chosen ? (sort.down ? "descending" : "ascending") : undefined;
    if (!sort || column.sortable === false) return <th scope="col" class={column.class}>{column.title}</th>;
    return (
        <th scope="col" class={column.class} aria-sort={direction}>
            <button type="button" onClick={() => sort.onSort(column.id)}>
                {column.title}
                <span class="arrow" aria-hidden="true">{chosen ? (sort.down ? "▾" : "▴") : ""}</span>
            </button>
        </th>
    );
}
