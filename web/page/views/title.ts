/* The title and the icon of the tab. */

/** Sets the title: what is shown, and the program. */
export function setTitle(title: string): void {
    const text = `${title} · jobflow`;
    if (document.title !== text) document.title = text;
}

/** Shows the icon of a state: tenths that are done (0 to 10), "done", or "failed". */
export function setIcon(name: string): void {
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    const next = link?.href.replace(/favicon-[^/]*\.svg$/, `favicon-${name}.svg`);
    if (link && next && link.href !== next) link.href = next;
}
