/* Paths of the Kubernetes API behind the gateway. */

/** The path of an object or list of the Kubernetes API behind the gateway. Parts are encoded; `group` is "" for the core group. */
export function apiPath(group: string, version: string, ns: string, ...parts: string[]): string {
    const root = group ? `/apis/${group}/${version}` : `/api/${version}`;
    const tail = (ns ? ["namespaces", ns, ...parts] : parts).map(encodeURIComponent).join("/");
    return `/ui/api${root}/${tail}`;
}

export const flowPath = (ns: string, ...parts: string[]) => apiPath("flow.volcano.sh", "v1alpha1", ns, "jobflows", ...parts);
