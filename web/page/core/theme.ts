/* The theme: that of the system, light, or dark; kept per browser. */
import { keep, kept } from "./kept";
import { signal } from "./signal";

export type Theme = "system" | "light" | "dark";

const KEY = "jf-theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");

function stored(): Theme {
    const value = kept(KEY);
    return value === "light" || value === "dark" ? value : "system";
}

export const theme = signal<Theme>(stored());
/** What is shown. Canvases draw anew when it changes. */
export const shownTheme = signal<"light" | "dark">("light");

function apply(): void {
    const shown = theme.peek() === "system" ? (system.matches ? "dark" : "light") : (theme.peek() as "light" | "dark");
    document.documentElement.dataset["theme"] = shown;
    shownTheme.value = shown;
}

/** Chooses a theme and keeps it for this browser. */
export function setTheme(next: Theme): void {
    theme.value = next;
    keep(KEY, next === "system" ? "" : next);
    apply();
}

/** Shows the theme, before the first paint, and follows the system from then on. */
export function startTheme(): void {
    apply();
    system.addEventListener("change", apply);
}
