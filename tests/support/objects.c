#include "tests/support/objects.h"

#include <stdio.h>
#include <string.h>

struct object *sample_build(const struct sample *sample)
{
    const struct kind *kind = sample->kind ? sample->kind : &kind_job;
    const char *body = sample->body ? sample->body : "{}";
    const char *uids[] = {sample->owner_uid, sample->owner_uid2};
    struct owner_ref owners[2];
    char uid[300];
    struct meta draft = {
        .namespace = !kind->namespaced ? ""
                     : sample->ns      ? sample->ns
                                       : "default",
        .name = sample->name,
        .uid = uid,
        .generation = 1,
        .created_at_ms = 1000,
        .deletion_grace_s = -1,
        .owners = owners,
        .finalizers = &sample->finalizer,
        .n_finalizers = sample->finalizer != NULL,
    };

    if (sample->uid)
        snprintf(uid, sizeof uid, "%s", sample->uid);
    else
        snprintf(uid, sizeof uid, "uid-%s", sample->name);
    for (size_t i = 0; i < countof(uids) && uids[i]; i++)
        owners[draft.n_owners++] = (struct owner_ref){
            .api_version = "batch.volcano.sh/v1alpha1",
            .kind = "Job",
            .name = "owner",
            .uid = uids[i],
        };
    return object_new(kind, meta_new(&draft), blob_intern(body, strlen(body)),
                      sample->status ? blob_new(sample->status, strlen(sample->status)) : NULL);
}

struct object *sample_with_status(const struct object *object, const char *status)
{
    return object_with_status(object, blob_new(status, strlen(status)));
}
