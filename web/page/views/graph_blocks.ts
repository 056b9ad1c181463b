/*
 * Draws a large flow: each block from a texture that has one pixel for each step, or, where boxes
 * are large enough to read, box by box. What is drawn in a frame does not grow with the flow.
 */
import { count } from "../core/format";
import { plain } from "../core/marked";
import { CLASSES, phaseOf, type PhaseClass } from "../core/phase";
import { T } from "../core/text";
import { cellsIn, type Block, type BlockLayout } from "../model/blocks";
import type { FlowModel, Step } from "../model/flow";
import { FONT, UNIT_X, UNIT_Y, type Camera, type GraphPainter, type Marked, type Palette } from "./graph_draw";

const PITCH_X = 21 * UNIT_X;
const PITCH_Y = 4 * UNIT_Y;
const BOX_PIXELS = 14; /* height from which steps are drawn as boxes */
const GRID_PIXELS = 6; /* height from which cells are told apart by lines */
const BOXES_MAX = 2000;
const END = 0.6; /* length of the ends of an edge to a line below, in boxes */
const LINES_MAX = 5000; /* edges of a chosen step that are drawn */

interface Texture {
    canvas: HTMLCanvasElement;
    image: ImageData;
    pixels: Uint32Array;
    counts: Record<PhaseClass, number>;
}

/* A colour as four bytes of an image, mixed with the ground where it is dimmed. */
function packed(colour: string, ground: string, share: number): number {
    const part = (text: string, at: number) => parseInt(text.slice(1 + 2 * at, 3 + 2 * at), 16) || 0;
    const mix = (at: number) => Math.round(part(colour, at) * share + part(ground, at) * (1 - share));
    return ((255 << 24) | (mix(2) << 16) | (mix(1) << 8) | mix(0)) >>> 0;
}

/** The states of a flow as images, one for each block. */
export class BlockTextures {
    private readonly textures: Texture[];

    constructor(private readonly layout: BlockLayout) {
        this.textures = layout.blocks.map((block) => {
            const canvas = document.createElement("canvas");
            [canvas.width, canvas.height] = [block.columns, block.rows];
            const image = new ImageData(block.columns, block.rows);
            return { canvas, image, pixels: new Uint32Array(image.data.buffer), counts: counters() };
        });
    }

    of(block: number): Texture {
        return this.textures[block]!;
    }

    /** Takes the states of all steps. Only images in which a pixel has changed are written anew. */
    update(steps: readonly Step[], dim: (step: Step) => boolean, colours: Palette): void {
        const shades = new Map<string, { cls: PhaseClass; full: number; dimmed: number }>();
        this.layout.blocks.forEach((block, number) => {
            const texture = this.textures[number]!;
            texture.counts = counters();
            let changed = false;
            block.steps.forEach((at, cell) => {
                const step = steps[at]!;
                let shade = shades.get(step.state);
                if (!shade) {
                    const { cls } = phaseOf(step.state);
                    shades.set(step.state, (shade = { cls, full: packed(colours[cls], colours.page, 1), dimmed: packed(colours[cls], colours.page, 0.2) }));
                }
                texture.counts[shade.cls]++;
                const pixel = dim(step) ? shade.dimmed : shade.full;
                if (texture.pixels[cell] === pixel) return;
                texture.pixels[cell] = pixel;
                changed = true;
            });
            if (changed) texture.canvas.getContext("2d")!.putImageData(texture.image, 0, 0);
        });
    }
}

function counters(): Record<PhaseClass, number> {
    return Object.fromEntries(CLASSES.map((cls) => [cls, 0])) as Record<PhaseClass, number>;
}

/** The state that a block shows at its border: failed before running before queued; null: none of them. */
export function worstOf(counts: Record<PhaseClass, number>): PhaseClass | null {
    return (["failed", "running", "queued"] as const).find((cls) => counts[cls] > 0) ?? null;
}

interface Frame {
    model: FlowModel;
    layout: BlockLayout;
    textures: BlockTextures;
    camera: Camera;
    size: { width: number; height: number; ratio: number };
    marked: Marked;
    now: number;
}

/** Draws a frame. `painter` draws single boxes. */
export function drawBlocks(ctx: CanvasRenderingContext2D, painter: GraphPainter, frame: Frame): void {
    const { layout, camera, size } = frame;
    const colours = painter.colours;
    painter.begin(camera, size);
    const view = {
        left: -camera.x / camera.zoom / UNIT_X, right: (size.width - camera.x) / camera.zoom / UNIT_X,
        top: -camera.y / camera.zoom / UNIT_Y, bottom: (size.height - camera.y) / camera.zoom / UNIT_Y,
    };
    ctx.globalAlpha = 0.7;
    ctx.strokeStyle = colours.edge;
    for (const edge of layout.edges) blockEdge(ctx, layout.blocks[edge.from]!, layout.blocks[edge.to]!, (0.8 + Math.log10(edge.count) / 1.5) / camera.zoom);
    ctx.globalAlpha = 1;
    const seen = layout.blocks.flatMap((block, at) => (block.x < view.right && block.x + block.w > view.left && block.y < view.bottom && block.y + block.h > view.top ? [at] : []));
    let left = BOXES_MAX;
    for (const at of seen) left -= block(ctx, painter, frame, at, view, left);
    chosenEdges(ctx, painter, frame);
    mark(ctx, painter, frame);
    ctx.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    for (const at of seen) label(ctx, colours, frame, at);
}

function blockEdge(ctx: CanvasRenderingContext2D, from: Block, to: Block, width: number): void {
    const [x1, y1, x2, y2] = [(from.x + from.w) * UNIT_X, (from.y + from.h / 2) * UNIT_Y, to.x * UNIT_X, (to.y + to.h / 2) * UNIT_Y];
    ctx.lineWidth = width;
    ctx.beginPath();
    ctx.moveTo(x1, y1);
    if (x2 > x1) {
        const bend = (x2 - x1) / 2;
        ctx.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
    } else { /* to a line below: its two ends */
        ctx.lineTo(x1 + END * PITCH_X, y1);
        ctx.moveTo(x2 - END * PITCH_X, y2);
        ctx.lineTo(x2, y2);
    }
    ctx.stroke();
}

/* Draws a block, and returns how many boxes it took. */
function block(ctx: CanvasRenderingContext2D, painter: GraphPainter, frame: Frame, number: number, view: { left: number; top: number; right: number; bottom: number }, left: number): number {
    const { layout, textures, camera, model, marked, now } = frame;
    const own = layout.blocks[number]!;
    const texture = textures.of(number);
    const high = 3 * UNIT_Y * camera.zoom;
    const cells = cellsIn(own, view.left, view.top, view.right, view.bottom);
    const inView = (cells.right - cells.left) * (cells.bottom - cells.top);
    const [x, y, w, h] = [own.x * UNIT_X, own.y * UNIT_Y, own.w * UNIT_X, own.h * UNIT_Y];
    const worst = worstOf(texture.counts);
    ctx.strokeStyle = worst ? painter.colours[worst] : painter.colours.line;
    ctx.lineWidth = (worst ? 2 : 1) / camera.zoom;
    const edge = 4 / camera.zoom;
    ctx.strokeRect(x - edge, y - edge, w + 2 * edge, h + 2 * edge);
    if (high >= BOX_PIXELS && inView <= left) {
        for (let row = cells.top; row < cells.bottom; row++)
            for (let column = cells.left; column < cells.right; column++) {
                const step = own.steps[row * own.columns + column];
                if (step !== undefined) painter.box(model, layout.boxes[step]!, camera.zoom, marked, now);
            }
        return inView;
    }
    ctx.imageSmoothingEnabled = false;
    ctx.drawImage(texture.canvas, x, y, own.columns * PITCH_X, own.rows * PITCH_Y);
    if (high < GRID_PIXELS) return 0;
    ctx.strokeStyle = painter.colours.page;
    ctx.lineWidth = Math.min(UNIT_Y, 1.5 / camera.zoom);
    ctx.beginPath();
    for (let column = cells.left + 1; column < cells.right; column++) line(ctx, x + column * PITCH_X, y + cells.top * PITCH_Y, x + column * PITCH_X, y + cells.bottom * PITCH_Y);
    for (let row = cells.top + 1; row < cells.bottom; row++) line(ctx, x + cells.left * PITCH_X, y + row * PITCH_Y, x + cells.right * PITCH_X, y + row * PITCH_Y);
    ctx.stroke();
    return 0;
}

function line(ctx: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
    ctx.moveTo(x1, y1);
    ctx.lineTo(x2, y2);
}

/* All edges of the step that is chosen or hovered. */
function chosenEdges(ctx: CanvasRenderingContext2D, painter: GraphPainter, frame: Frame): void {
    const { model, layout, marked, camera } = frame;
    const at = marked.hovered >= 0 ? marked.hovered : marked.selected;
    if (at < 0) return;
    const step = model.steps[at]!;
    const curve = (from: number, to: number) => {
        const [a, b] = [layout.boxes[from]!, layout.boxes[to]!];
        const [x1, y1, x2, y2] = [(a.x + a.w) * UNIT_X, (a.y + a.h / 2) * UNIT_Y, b.x * UNIT_X, (b.y + b.h / 2) * UNIT_Y];
        ctx.moveTo(x1, y1);
        ctx.bezierCurveTo(x1 + (x2 - x1) / 2, y1, x2 - (x2 - x1) / 2, y2, x2, y2);
    };
    ctx.strokeStyle = painter.colours.focus;
    ctx.lineWidth = 1.5 / camera.zoom;
    ctx.beginPath();
    for (const other of step.after.slice(0, LINES_MAX)) curve(other, at);
    for (const other of step.before.slice(0, LINES_MAX)) curve(at, other);
    ctx.stroke();
}

/* A frame around the chosen step that is seen at any size. */
function mark(ctx: CanvasRenderingContext2D, painter: GraphPainter, frame: Frame): void {
    const { layout, marked, camera } = frame;
    for (const at of new Set([marked.selected, marked.active])) {
        const box = at >= 0 ? layout.boxes[at] : undefined;
        if (!box) continue;
        const edge = 3 / camera.zoom;
        ctx.strokeStyle = painter.colours.focus;
        ctx.lineWidth = 2 / camera.zoom;
        const [w, h] = [Math.max(box.w * UNIT_X, 8 / camera.zoom), Math.max(box.h * UNIT_Y, 8 / camera.zoom)];
        ctx.strokeRect(box.x * UNIT_X - edge, box.y * UNIT_Y - edge, w + 2 * edge, h + 2 * edge);
    }
}

/* Name, counts and bar of a block, in the size of the page's text whatever the zoom. */
function label(ctx: CanvasRenderingContext2D, colours: Palette, frame: Frame, number: number): void {
    const { layout, textures, camera } = frame;
    const own = layout.blocks[number]!;
    const wide = own.w * UNIT_X * camera.zoom;
    const high = own.h * UNIT_Y * camera.zoom;
    if (wide < 56 || high < 24) return;
    const { counts } = textures.of(number);
    const parts = [plain(own.label).slice(0, 60), count(own.steps.length), counts.failed ? T.failedCount(counts.failed) : "", counts.running ? T.runningCount(counts.running) : ""].filter(Boolean);
    const x = Math.max(4, own.x * UNIT_X * camera.zoom + camera.x - 4);
    const top = own.y * UNIT_Y * camera.zoom + camera.y;
    const y = Math.max(4, top - 26);
    ctx.font = `600 12px ${FONT}`;
    ctx.textBaseline = "middle";
    let text = parts.join(" · ");
    if (ctx.measureText(text).width > wide + 8) text = parts.slice(0, 2).join(" · ");
    if (ctx.measureText(text).width > wide + 8) text = parts[1]!;
    const width = ctx.measureText(text).width + 12;
    ctx.fillStyle = colours.page;
    ctx.globalAlpha = 0.92;
    ctx.fillRect(x, y, width, 22);
    ctx.globalAlpha = 1;
    ctx.fillStyle = colours.text;
    ctx.fillText(text, x + 6, y + 9);
    let at = x + 6;
    for (const cls of ["done", "skipped", "failed", "running", "queued", "waiting"] as const) {
        const part = ((width - 12) * counts[cls]) / Math.max(1, own.steps.length);
        if (part <= 0) continue;
        ctx.fillStyle = colours[cls];
        ctx.fillRect(at, y + 17, Math.max(1, part), 3);
        at += part;
    }
}
