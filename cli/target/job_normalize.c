/*
 * Rewrites policies, tasks and metadata in place.
 */
#include "cli/target/job_normalize.h"

#include <string.h>

#include "api/types/text/doc.h"
#include "base/compiler.h"

static void normalize_policies(json_t *policies)
{
    json_t *policy, *event;
    size_t i, k;

    json_array_foreach(policies, i, policy)
    {
        const char *one = doc_text(policy, "event");

        if (one && strcmp(one, "JobUnknown") == 0)
            json_object_set_new(policy, "event", json_string("Unknown"));
        json_array_foreach(json_object_get(policy, "events"), k, event)
        {
            if (strcmp(json_string_value(event), "JobUnknown") == 0)
                json_array_set_new(json_object_get(policy, "events"), k, json_string("Unknown"));
        }
    }
}

/* Names, labels, annotations and finalizers are what pod templates have in Volcano's CRD. */
static void normalize_metadata(json_t *template)
{
    static const char *const kept[] = {"name", "namespace", "labels", "annotations", "finalizers"};
    const json_t *metadata = json_object_get(template, "metadata");
    json_t *out;

    if (!metadata)
        return;
    out = json_object();
    for (size_t i = 0; i < countof(kept); i++)
        if (json_object_get(metadata, kept[i]))
            json_object_set(out, kept[i], json_object_get(metadata, kept[i]));
    if (json_object_size(out))
        json_object_set(template, "metadata", out);
    else
        json_object_del(template, "metadata");
    json_decref(out);
}

void target_normalize_job(json_t *spec)
{
    json_t *task;
    size_t i;

    normalize_policies(json_object_get(spec, "policies"));
    json_array_foreach(json_object_get(spec, "tasks"), i, task)
    {
        const char *topology = doc_text(task, "topologyPolicy");

        if (topology && !*topology)
            json_object_del(task, "topologyPolicy");
        normalize_policies(json_object_get(task, "policies"));
        normalize_metadata(json_object_get(task, "template"));
    }
}
