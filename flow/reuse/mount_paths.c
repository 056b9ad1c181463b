/*
 * Follows the mounts of a job's first container.
 */
#include "flow/reuse/mount_paths.h"
#include "api/types/text/doc.h"

#include <stdbool.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

/* Returns the length of the beginning of `path` that is the directory `dir`, or 0. */
static size_t covers(const char *dir, const char *path)
{
    size_t len = dir ? strlen(dir) : 0;

    while (len && dir[len - 1] == '/')
        len--;
    return len && strncmp(dir, path, len) == 0 && (path[len] == '/' || !path[len]) ? len : 0;
}

/* Returns the entry of `mounts` that covers most of the path, and how much in `out_len`. */
static const json_t *deepest(const json_t *mounts, const char *path, size_t *out_len)
{
    const json_t *mount, *found = NULL;
    size_t i;

    json_array_foreach(mounts, i, mount)
    {
        size_t len = covers(text_of(mount, "mountPath"), path);

        if (len > *out_len) {
            *out_len = len;
            found = mount;
        }
    }
    return found;
}

const char *reuse_mount_path(const json_t *job_spec, const char *path, struct arena *arena,
                             const char **out_problem)
{
    const json_t *task = json_array_get(json_object_get(job_spec, "tasks"), 0);
    const json_t *pod = json_object_get(json_object_get(task, "template"), "spec");
    const json_t *container = json_array_get(json_object_get(pod, "containers"), 0), *volume;
    size_t len = 0;
    const json_t *mount = deepest(json_object_get(container, "volumeMounts"), path, &len);
    const json_t *own = deepest(json_object_get(job_spec, "volumes"), path, &len);
    const char *host, *sub;

    if (own) {
        *out_problem = "it lies in a volume of the job, whose files are not scanned";
        return NULL;
    }
    if (!mount)
        return path;
    volume = doc_named(json_object_get(pod, "volumes"), text_of(mount, "name"));
    host = text_of(json_object_get(volume, "hostPath"), "path");
    sub = text_of(mount, "subPath");
    if (!host || json_object_get(mount, "subPathExpr")) {
        *out_problem = "it lies in a volume that is no path of this machine";
        return NULL;
    }
    return arena_printf(arena, "%s%s%s%s", host, sub ? "/" : "", sub ? sub : "", path + len);
}
