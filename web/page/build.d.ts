/* What the build says: whether the bundle is that of a report, a file without a server, or that of the page. */
declare const REPORT: boolean;

/* The types of this version of TypeScript lack it. */
declare class DecompressionStream implements ReadableWritablePair<Uint8Array, Uint8Array> {
    constructor(format: "gzip");
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream<Uint8Array>;
}
