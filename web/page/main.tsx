/*
 * The page of jobflow. The script stands in the head of the document: it sets the theme before
 * anything is drawn, and starts the page when the document is there.
 */
import { render } from "preact";
import { ApiError, followSignIn, getJson, me, openNote, startSignIn, takeTicket } from "./core/api";
import { flowPath } from "./core/paths";
import { flowHref, go, route, startRoute } from "./core/route";
import { T } from "./core/text";
import { startTheme } from "./core/theme";
import { Shell } from "./views/shell";

startTheme();
const ticket = takeTicket();
document.addEventListener("DOMContentLoaded", () => {
    const app = document.getElementById("app")!;
    app.textContent = ""; /* the sentence for browsers that cannot read this script */
    if (typeof ReadableStream === "undefined" || !("body" in Response.prototype)) {
        app.textContent = T.missing("streamed answers of fetch");
        return;
    }
    startRoute();
    followSignIn();
    render(<Shell />, app);
    void startSignIn(ticket).then(openNamed);
});

/* `jobflow ui jf/NAME` names a flow: a new sign-in shows it, unless the link led elsewhere or there is none of that name. */
async function openNamed(): Promise<void> {
    const [ns, name] = me.peek()?.open?.split("/") ?? [];
    if (!ticket || !ns || !name || route.peek().page !== "flows") return;
    try {
        await getJson(flowPath(ns, name));
        go(flowHref(ns, name), true);
    } catch (error) {
        if (error instanceof ApiError && error.code === 404) openNote.value = T.noSuchFlow(`${ns}/${name}`);
        else go(flowHref(ns, name), true); /* its page says what is wrong */
    }
}
