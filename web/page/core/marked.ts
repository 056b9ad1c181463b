/*
 * Text of others made safe to read: characters that change how their neighbours look are marked.
 */

/* Controls, zero-width characters, bidi marks, embeddings, overrides and isolates, line and paragraph separators, and lone
 * surrogates. Tab and newline are no part of names either. */
const ODD = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** One piece of a text: as it is, or a character that is named because it would not show. */
export interface Piece {
    text: string;
    odd: boolean;
}

/** The name of a character: "U+202E". */
export function codePoint(char: string): string {
    return "U+" + char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
}

/** Splits a name at its odd characters. Pieces joined give the name again. */
export function pieces(name: string): Piece[] {
    const out: Piece[] = [];
    let last = 0;
    for (const found of name.matchAll(ODD)) {
        if (found.index! > last) out.push({ text: name.slice(last, found.index), odd: false });
        out.push({ text: found[0]!, odd: true });
        last = found.index! + found[0]!.length;
    }
    if (last < name.length) out.push({ text: name.slice(last), odd: false });
    return out;
}

/** A name in which odd characters are written as code points, for places that hold plain text only. */
export function plain(name: string): string {
    return name.replace(ODD, (char) => `⟨${codePoint(char)}⟩`);
}

/** Splits a message at its http and https addresses. Nothing else becomes a link. */
export function links(text: string): { text: string; href: string | null }[] {
    const out: { text: string; href: string | null }[] = [];
    let last = 0;
    for (const found of text.matchAll(/\bhttps?:\/\/[^\s<>"'`\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069]{1,2000}/g)) {
        const address = found[0]!.replace(/[.,;:!?)\]}]+$/, "");
        if (found.index! > last) out.push({ text: text.slice(last, found.index), href: null });
        out.push({ text: address, href: address });
        last = found.index! + address.length;
    }
    if (last < text.length) out.push({ text: text.slice(last), href: null });
    return out;
}
