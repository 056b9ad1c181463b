/*
 * Copies the metadata of the job with one annotation added or replaced; the body stays.
 */
#include "api/submit/annotate.h"

#include <string.h>

#include "base/mem.h"

bool submit_annotate(struct registry *registry, const struct object *job, const char *key,
                     const char *value)
{
    struct meta meta = *job->meta;
    struct kv *annotations = mem_array(meta.n_annotations + 1, sizeof *annotations);
    struct error_list errors = {0};
    struct meta *next;
    uint32_t n = 0;
    bool ok;

    for (uint32_t i = 0; i < meta.n_annotations; i++)
        if (strcmp(meta.annotations[i].key, key) != 0)
            annotations[n++] = meta.annotations[i];
    annotations[n++] = (struct kv){key, value};
    meta.annotations = annotations;
    meta.n_annotations = n;
    next = meta_new(&meta);
    mem_free(annotations);
    ok = registry_update_object(registry, object_with_meta(job, next), NULL, &errors);
    error_list_release(&errors);
    return ok;
}
