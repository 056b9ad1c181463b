/*
 * Reads columns: arrays with one value for each of many items, as the gateway sends them for large
 * flows. base/encoding/columns.h describes the form. Everything is checked before it is used; what
 * does not fit is refused with a text that says so.
 */

export const COLUMNS_TYPE = "application/vnd.jobflow.columns";

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array } as const;
const HEAD = 8; /* bytes before the header: "JFC1" and its length */
const ALIGN = 8;
const HEADER_MAX = 32 << 20;

interface Section {
    name: string;
    type: string;
    offset: number;
    length: number;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function refuse(why: string): never {
    throw new Error(`the answer cannot be read: ${why}`);
}

function sectionsOf(header: Record<string, unknown>, room: number): Map<string, Section> {
    const list = header["sections"];
    const found = new Map<string, Section>();
    if (!Array.isArray(list)) refuse("it has no list of sections");
    for (const one of list as unknown[]) {
        const { name, type, offset, length } = (one ?? {}) as Partial<Section>;
        if (typeof name !== "string" || typeof type !== "string" || !isCount(offset) || !isCount(length)) refuse("a section is not described");
        if (offset % ALIGN !== 0 || offset + length > room) refuse(`section ${name} lies outside`);
        if (found.has(name)) refuse(`section ${name} is there twice`);
        found.set(name, { name, type, offset, length });
    }
    return found;
}

export class Columns {
    /** The members of the header beside the sections. */
    readonly header: Record<string, unknown>;
    private readonly sections: Map<string, Section>;
    private readonly start: number;

    constructor(private readonly bytes: ArrayBuffer) {
        const view = new DataView(bytes);
        if (bytes.byteLength < HEAD || view.getUint32(0) !== 0x4a464331) refuse("it has no columns");
        const length = view.getUint32(4, true);
        if (length > HEADER_MAX || HEAD + length > bytes.byteLength) refuse("its header is cut off");
        let header: unknown;
        try {
            header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(bytes, HEAD, length)));
        } catch {
            refuse("its header is no JSON");
        }
        if (!header || typeof header !== "object" || Array.isArray(header)) refuse("its header is no object");
        this.header = header as Record<string, unknown>;
        this.start = Math.ceil((HEAD + length) / ALIGN) * ALIGN;
        this.sections = sectionsOf(this.header, bytes.byteLength - this.start);
    }

    has(name: string): boolean {
        return this.sections.has(name);
    }

    u8(name: string, count: number): Uint8Array {
        return this.numbers("u8", name, count) as Uint8Array;
    }

    /** The values of a section; `count` -1: however many there are. */
    u32(name: string, count: number): Uint32Array {
        return this.numbers("u32", name, count) as Uint32Array;
    }

    /** The texts of a section; `count` -1: however many there are. */
    texts(name: string, count: number): string[] {
        const section = this.section(name, "utf8");
        const at = this.u32(`${name}At`, count < 0 ? -1 : count + 1);
        const bytes = new Uint8Array(this.bytes, this.start + section.offset, section.length);
        if (at.length === 0 || at[0] !== 0 || at[at.length - 1] !== bytes.length) refuse(`the texts of section ${name} do not fill it`);
        for (let i = 1; i < at.length; i++) if (at[i]! < at[i - 1]!) refuse(`the texts of section ${name} overlap`);
        const decoder = new TextDecoder();
        const whole = decoder.decode(bytes);
        /* In plain ASCII, as names of steps are, places in the bytes are places in the text. */
        const cut = whole.length === bytes.length ? (from: number, to: number) => whole.slice(from, to) : (from: number, to: number) => decoder.decode(bytes.subarray(from, to));
        return Array.from({ length: at.length - 1 }, (_, i) => cut(at[i]!, at[i + 1]!));
    }

    private section(name: string, type: string): Section {
        const section = this.sections.get(name) ?? refuse(`section ${name} is missing`);
        if (section.type !== type) refuse(`section ${name} is of type ${section.type}, not ${type}`);
        return section;
    }

    private numbers(type: keyof typeof ARRAYS, name: string, count: number): Uint8Array | Uint16Array | Uint32Array {
        const { offset, length } = this.section(name, type);
        const size = ARRAYS[type].BYTES_PER_ELEMENT;
        if (length % size !== 0 || (count >= 0 && length !== count * size)) refuse(`section ${name} has ${length} bytes`);
        return new ARRAYS[type](this.bytes, this.start + offset, length / size);
    }
}
