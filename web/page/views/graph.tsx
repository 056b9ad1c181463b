/* The graph of a flow: pan, zoom, choose. The canvas is one stop of the keyboard; arrows go along edges. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { now, tick } from "../core/clock";
import { bindKeys } from "../core/keys";
import { plain } from "../core/marked";
import { phaseOf } from "../core/phase";
import { setQuery } from "../core/route";
import { effect, useSignal } from "../core/signal";
import { T } from "../core/text";
import { shownTheme } from "../core/theme";
import { stepAt, type BlockLayout } from "../model/blocks";
import type { FlowModel, Step } from "../model/flow";
import { BlockTextures, drawBlocks } from "./graph_blocks";
import { GraphPainter, readPalette, stateText, UNIT_X, UNIT_Y, type Camera, type Palette } from "./graph_draw";
import { GraphMap } from "./graph_map";
import { useTick } from "./parts";

const ZOOM_MIN = 0.05;
const ZOOM_MIN_BLOCKS = 0.0005;
const ZOOM_MAX = 3;
const READABLE = 0.72; /* zoom at which names are 9 px high */
const MARGIN = 28;
const SPOKEN_MAX = 20; /* neighbours of a step that are named */

export interface Size {
    width: number;
    height: number;
    ratio: number;
}

/** The camera that shows the whole flow, at most at zoom 1.15. */
export function fitted(model: FlowModel, size: { width: number; height: number }): Camera {
    const [w, h] = [Math.max(1, model.layout.width * UNIT_X), Math.max(1, model.layout.height * UNIT_Y)];
    const zoom = Math.max(model.blocks ? ZOOM_MIN_BLOCKS : ZOOM_MIN, Math.min(1.15, (size.width - 2 * MARGIN) / w, (size.height - 2 * MARGIN) / h));
    return { zoom, x: (size.width - w * zoom) / 2, y: (size.height - h * zoom) / 2 };
}

/* The first view: the whole flow where its names can be read then, else the part with what runs or has failed. */
function firstView(model: FlowModel, size: Size, selected: number): Camera {
    const whole = fitted(model, size);
    if (whole.zoom >= READABLE || !model.steps.length || (model.blocks && selected < 0)) return whole;
    const rank = (step: Step) => ["running", "failed", "queued"].indexOf(phaseOf(step.state).cls);
    const busy = model.steps.filter((step) => rank(step) >= 0).sort((a, b) => rank(a) - rank(b))[0];
    const at = selected >= 0 ? selected : busy?.at;
    const camera = centred(model, at ?? 0, READABLE, size);
    return at === undefined ? { ...camera, x: MARGIN } : camera;
}

function centred(model: FlowModel, at: number, zoom: number, size: Size): Camera {
    const box = model.layout.boxes[at]!;
    return { zoom, x: size.width / 2 - (box.x + box.w / 2) * UNIT_X * zoom, y: size.height / 2 - (box.y + box.h / 2) * UNIT_Y * zoom };
}

/* The camera moved so that a box is wholly on the canvas. */
function withBox(model: FlowModel, camera: Camera, at: number, size: Size): Camera {
    const box = model.layout.boxes[at]!;
    const left = box.x * UNIT_X * camera.zoom + camera.x;
    const top = box.y * UNIT_Y * camera.zoom + camera.y;
    const right = left + box.w * UNIT_X * camera.zoom;
    const bottom = top + box.h * UNIT_Y * camera.zoom;
    const shift = (low: number, high: number, room: number) => (low < 12 ? 12 - low : high > room - 12 ? room - 12 - high : 0);
    return { ...camera, x: camera.x + shift(left, right, size.width), y: camera.y + shift(top, bottom, size.height) };
}

function hit(model: FlowModel, camera: Camera, x: number, y: number): number {
    const [lx, ly] = [(x - camera.x) / camera.zoom / UNIT_X, (y - camera.y) / camera.zoom / UNIT_Y];
    if (model.blocks) return stepAt(model.blocks, lx, ly);
    return model.layout.boxes.find((box) => lx >= box.x && lx <= box.x + box.w && ly >= box.y && ly <= box.y + box.h)?.step ?? -1;
}

function zoomAt(model: FlowModel, camera: Camera, x: number, y: number, factor: number): Camera {
    const zoom = Math.min(ZOOM_MAX, Math.max(model.blocks ? ZOOM_MIN_BLOCKS : ZOOM_MIN, camera.zoom * factor));
    const by = zoom / camera.zoom;
    return { zoom, x: x - (x - camera.x) * by, y: y - (y - camera.y) * by };
}

/* The step that an arrow key leads to; -1: none. */
function neighbour(model: FlowModel, at: number, key: string): number {
    const box = model.layout.boxes[at]!;
    const nearest = (list: number[]) => [...list].sort((a, b) => Math.abs(model.layout.boxes[a]!.y - box.y) - Math.abs(model.layout.boxes[b]!.y - box.y))[0] ?? -1;
    const column = model.layout.boxes.filter((other) => other.x === box.x);
    if (key === "ArrowRight") return nearest(model.steps[at]!.before);
    if (key === "ArrowLeft") return nearest(model.steps[at]!.after);
    if (key === "ArrowDown") return column.filter((other) => other.y > box.y).sort((a, b) => a.y - b.y)[0]?.step ?? -1;
    if (key === "ArrowUp") return column.filter((other) => other.y < box.y).sort((a, b) => b.y - a.y)[0]?.step ?? -1;
    if (key === "Home") return 0;
    if (key === "End") return model.steps.length - 1;
    return -1;
}

/** A step in one sentence, for a screen reader. */
function spoken(model: FlowModel, at: number): string {
    const step = model.steps[at]!;
    const names = (list: number[]) => list.slice(0, SPOKEN_MAX).map((other) => plain(model.steps[other]!.name)).join(", ") + (list.length > SPOKEN_MAX ? ` ${T.more(list.length - SPOKEN_MAX)}` : "");
    return [plain(step.name), stateText(step, now()), step.after.length ? T.afterSteps(names(step.after)) : "", step.before.length ? T.beforeSteps(names(step.before)) : ""].filter(Boolean).join("; ");
}

/* The images of the blocks, and of what state they are. */
interface KeptTextures {
    layout: BlockLayout;
    textures: BlockTextures;
    drawn: { version: number; dim: unknown; colours: Palette } | null;
}

interface Props {
    model: FlowModel;
    version: number;
    selected: number;
    dim(step: Step): boolean;
}

export function GraphView({ model, version, selected, dim }: Props) {
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const painter = useRef<GraphPainter | null>(null);
    const camera = useRef<Camera | null>(null);
    const shownModel = useRef(model);
    shownModel.current = model;
    const textures = useRef<KeptTextures | null>(null);
    const size = useRef<Size>({ width: 0, height: 0, ratio: 1 });
    const [hovered, setHovered] = useState(-1);
    const [active, setActive] = useState(-1);
    const [moved, redraw] = useState({});
    useSignal(shownTheme);
    useTick(model.steps.some((step) => phaseOf(step.state).cls === "running"));

    const move = (next: Camera) => {
        camera.current = next;
        redraw({});
    };
    const fit = () => move(fitted(model, size.current));
    const zoom = (factor: number) => camera.current && move(zoomAt(model, camera.current, size.current.width / 2, size.current.height / 2, factor));
    const select = (at: number) => setQuery({ step: at >= 0 ? model.steps[at]!.name : "" });

    useLayoutEffect(() => {
        painter.current = new GraphPainter(canvas.current!.getContext("2d", { alpha: false })!, readPalette(document.documentElement));
        const observer = new ResizeObserver(() => {
            const [width, height, ratio] = [box.current!.clientWidth, box.current!.clientHeight, window.devicePixelRatio || 1];
            const old = size.current;
            size.current = { width, height, ratio };
            canvas.current!.width = Math.round(width * ratio);
            canvas.current!.height = Math.round(height * ratio);
            if (camera.current && old.width) camera.current = { ...camera.current, x: camera.current.x + (width - old.width) / 2, y: camera.current.y + (height - old.height) / 2 };
            redraw({});
        });
        observer.observe(box.current!);
        const theme = effect(() => {
            shownTheme.value;
            painter.current!.colours = readPalette(document.documentElement);
            redraw({});
        });
        return () => {
            observer.disconnect();
            theme();
        };
    }, []);
    useEffect(() => {
        if (selected < 0) return;
        setActive(selected);
        if (camera.current) move(withBox(model, camera.current, selected, size.current));
    }, [selected]);
    useLayoutEffect(() => {
        if (!size.current.width || !model.ready) return;
        camera.current ??= firstView(model, size.current, selected);
        const marked = { selected, hovered, active: document.activeElement === box.current ? active : -1, dim };
        if (!model.blocks) return painter.current!.draw(model, camera.current, size.current, marked, now());
        const kept = textures.current?.layout === model.blocks ? textures.current : (textures.current = { layout: model.blocks, textures: new BlockTextures(model.blocks), drawn: null });
        const { colours } = painter.current!;
        if (kept.drawn?.version !== version || kept.drawn.dim !== dim || kept.drawn.colours !== colours) {
            kept.textures.update(model.steps, dim, colours);
            kept.drawn = { version, dim, colours };
        }
        return drawBlocks(canvas.current!.getContext("2d")!, painter.current!, { model, layout: model.blocks, textures: kept.textures, camera: camera.current, size: size.current, marked, now: now() });
    }, [moved, version, selected, hovered, active, dim, tick.peek()]);
    useEffect(() => bindKeys([
        { keys: "f", does: T.keyFit, run: fit },
        { keys: "+", does: T.keyZoomIn, run: () => zoom(1.25) },
        { keys: "-", does: T.keyZoomOut, run: () => zoom(0.8) },
    ]), [model]);
    usePointer(box, shownModel, camera, move, (x, y) => setHovered(camera.current ? hit(model, camera.current, x, y) : -1), (x, y) => camera.current && select(hit(model, camera.current, x, y)));

    const onKeyDown = (event: KeyboardEvent) => {
        if (event.ctrlKey || event.altKey || event.metaKey || !model.steps.length) return;
        if (event.key === "Enter" || event.key === " ") select(active);
        else {
            const next = active < 0 && event.key.startsWith("Arrow") ? 0 : active < 0 && event.key !== "Home" && event.key !== "End" ? -1 : neighbour(model, Math.max(0, active), event.key);
            if (next < 0) return;
            setActive(next);
            if (camera.current) move(withBox(model, camera.current, next, size.current));
        }
        event.preventDefault();
    };
    const larger = camera.current && (model.layout.width * UNIT_X * camera.current.zoom > size.current.width || model.layout.height * UNIT_Y * camera.current.zoom > size.current.height);
    return (
        <div class="graph">
            <div class="canvas" ref={box} role="application" tabIndex={0} aria-label={T.graphLabel(model.steps.length)} aria-describedby="graph-active" onKeyDown={onKeyDown}
                onFocus={() => redraw({})} onBlur={() => redraw({})} data-hovered={hovered >= 0 ? model.steps[hovered]?.name : ""}>
                <canvas ref={canvas} />
            </div>
            <p id="graph-active" class="hidden" aria-live="polite">{active >= 0 && model.steps[active] ? spoken(model, active) : ""}</p>
            <div class="zoom">
                <button type="button" onClick={() => zoom(1.25)} aria-label={T.keyZoomIn} title={T.keyZoomIn}>+</button>
                <button type="button" onClick={() => zoom(0.8)} aria-label={T.keyZoomOut} title={T.keyZoomOut}>−</button>
                <button type="button" onClick={fit} title={T.keyFit}>{T.fit}</button>
            </div>
            {larger && <GraphMap model={model} camera={camera.current!} size={size.current} version={version} onMove={move} />}
        </div>
    );
}

/* Wheel, drag, two fingers, hover and click. A drag of less than four pixels is a click. */
function usePointer(box: { current: HTMLDivElement | null }, model: { current: FlowModel }, camera: { current: Camera | null }, move: (next: Camera) => void, hover: (x: number, y: number) => void, click: (x: number, y: number) => void): void {
    const act = useRef({ move, hover, click });
    act.current = { move, hover, click };
    useEffect(() => {
        const element = box.current!;
        const down = new Map<number, { x: number; y: number }>();
        let dragged = 0;
        const place = (event: MouseEvent) => {
            const frame = element.getBoundingClientRect();
            return { x: event.clientX - frame.left, y: event.clientY - frame.top };
        };
        const spread = () => {
            const [a, b] = [...down.values()] as [{ x: number; y: number }, { x: number; y: number }];
            return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, far: Math.hypot(a.x - b.x, a.y - b.y) };
        };
        const onDown = (event: PointerEvent) => {
            if (event.button !== 0) return;
            if (down.size === 0) dragged = 0;
            down.set(event.pointerId, place(event));
            element.setPointerCapture(event.pointerId);
        };
        const onMove = (event: PointerEvent) => {
            const at = place(event);
            const last = down.get(event.pointerId);
            if (!last) return act.current.hover(at.x, at.y);
            if (!camera.current) return;
            const before = down.size === 2 ? spread() : null;
            down.set(event.pointerId, at);
            dragged += Math.abs(at.x - last.x) + Math.abs(at.y - last.y);
            if (!before) return act.current.move({ ...camera.current, x: camera.current.x + at.x - last.x, y: camera.current.y + at.y - last.y });
            const after = spread();
            const zoomed = zoomAt(model.current, camera.current, after.x, after.y, after.far / (before.far || 1));
            act.current.move({ ...zoomed, x: zoomed.x + after.x - before.x, y: zoomed.y + after.y - before.y });
        };
        const onUp = (event: PointerEvent) => {
            const last = down.get(event.pointerId);
            down.delete(event.pointerId);
            if (last && event.type === "pointerup" && dragged < 4 && down.size === 0) act.current.click(last.x, last.y);
        };
        const onWheel = (event: WheelEvent) => {
            if (!camera.current) return;
            event.preventDefault();
            const at = place(event);
            act.current.move(zoomAt(model.current, camera.current, at.x, at.y, Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) / 400)));
        };
        const onLeave = () => act.current.hover(-1e9, -1e9);
        element.addEventListener("pointerdown", onDown);
        element.addEventListener("pointermove", onMove);
        element.addEventListener("pointerup", onUp);
        element.addEventListener("pointercancel", onUp);
        element.addEventListener("pointerleave", onLeave);
        element.addEventListener("wheel", onWheel, { passive: false });
        return () => {
            element.removeEventListener("pointerdown", onDown);
            element.removeEventListener("pointermove", onMove);
            element.removeEventListener("pointerup", onUp);
            element.removeEventListener("pointercancel", onUp);
            element.removeEventListener("pointerleave", onLeave);
            element.removeEventListener("wheel", onWheel);
        };
    }, []);
}
