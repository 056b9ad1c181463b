/*
 * The script of a report. It stands in the head of the document, and shows the views of the page
 * from what is in the file. The document itself says the same as text and pictures: for printing,
 * and for browsers that cannot run this.
 */
import { render } from "preact";
import { setServerTime } from "../core/clock";
import { flowHref, go, route, startRoute } from "../core/route";
import { setSource } from "../core/source";
import { startTheme } from "../core/theme";
import { ReportSource } from "./answers";
import { readData } from "./data";
import { ReportShell } from "./shell";

async function start(): Promise<void> {
    const data = await readData(document.getElementById("report-data")!.textContent ?? "");
    setServerTime(data.nowMs);
    setSource(new ReportSource(data));
    startRoute();
    const [only, ...others] = data.flows;
    if (only && others.length === 0 && route.peek().page !== "flow") go(flowHref(only.ns, only.name), true);
    render(<ReportShell data={data} />, document.getElementById("app")!);
}

if ("DecompressionStream" in window) {
    startTheme();
    document.documentElement.classList.add("live");
    document.addEventListener("DOMContentLoaded", () => {
        start().catch((error: unknown) => {
            document.documentElement.classList.remove("live");
            throw error;
        });
    });
}
