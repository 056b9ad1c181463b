/* Lists that are read page by page. */

export interface Page<Item> {
    items?: Item[];
    metadata?: { continue?: string; remainingItemCount?: number };
}

export interface Listed<Item> {
    items: Item[];
    /** There are more than were read. */
    cut: boolean;
    /** Why none could be read; "": they could. */
    refused: string;
}

export const PAGE_ITEMS = 1000;
export const LIST_MAX = 50_000;

/** Reads a list to its end, or to `most` items. `get` reads one page; a refusal is a part of what is returned, an abort is thrown. */
export async function listAll<Item>(get: (query: string) => Promise<Page<Item>>, query = "", most = LIST_MAX): Promise<Listed<Item>> {
    const items: Item[] = [];
    let next = "";
    try {
        do {
            const page = await get(`?limit=${Math.min(PAGE_ITEMS, most)}${query}${next && `&continue=${encodeURIComponent(next)}`}`);
            for (const item of page.items ?? []) items.push(item);
            next = page.metadata?.continue ?? "";
        } while (next && items.length < most);
    } catch (error) {
        if (error instanceof DOMException && error.name === "AbortError") throw error;
        return { items, cut: items.length > 0, refused: (error as Error).message };
    }
    return { items, cut: next !== "", refused: "" };
}
