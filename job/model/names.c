/*
 * Names follow from the job alone, so that a repeated creation finds the object and makes no
 * second.
 */
#include "job/model/names.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/collections/hash.h"
#include "base/mem.h"

bool job_parse_int(const char *text, int32_t *out)
{
    bool negative = *text == '-';
    int64_t value = 0;

    if (*text == '-' || *text == '+')
        text++;
    if (*text == '\0')
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        value = value * 10 + (*text - '0');
        if (value > (int64_t)INT32_MAX + 1)
            return false;
    }
    value = negative ? -value : value;
    if (value > INT32_MAX)
        return false;
    *out = (int32_t)value;
    return true;
}

char *job_pod_name(const char *job, const char *task, int32_t index)
{
    struct buf name = {0};

    buf_reserve(&name, strlen(job) + strlen(task) + 14);
    buf_str(&name, job);
    buf_char(&name, '-');
    buf_str(&name, task);
    buf_char(&name, '-');
    buf_int(&name, index);
    return buf_take(&name);
}

char *job_podgroup_name(const struct object *job)
{
    struct buf name = {0};

    buf_reserve(&name, strlen(object_name(job)) + strlen(object_uid(job)) + 2);
    buf_str(&name, object_name(job));
    buf_char(&name, '-');
    buf_str(&name, object_uid(job));
    return buf_take(&name);
}

enum { TOKEN_LEN = 12 };

/* Twelve characters of [0-9a-z] from a hash of the text, the same in every process. */
static void token(const char *text, size_t len, char out[TOKEN_LEN + 1])
{
    uint64_t hash = hash_stable(text, len);

    for (int i = 0; i < TOKEN_LEN; i++, hash /= 36)
        out[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[hash % 36];
    out[TOKEN_LEN] = '\0';
}

char *job_claim_name(const struct object *job, size_t position)
{
    scoped_str seed = mem_printf("%s/%zu", object_uid(job), position);
    char suffix[TOKEN_LEN + 1];

    token(seed, strlen(seed), suffix);
    return mem_printf("%s-pvc-%s", object_name(job), suffix);
}

char *job_claim_volume_name(const char *claim)
{
    char suffix[TOKEN_LEN + 1];

    token(claim, strlen(claim), suffix);
    return mem_printf("claim-%s", suffix);
}

int32_t job_partition_of(int32_t index, int32_t size)
{
    return size > 0 ? index / size : 0;
}

static bool is_among(const char *key, const struct kv *set, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(set[i].key, key) == 0)
            return true;
    return false;
}

struct object *job_annotated(const struct object *job, const struct kv *set, size_t n)
{
    struct kv *annotations = mem_array(job->meta->n_annotations + n, sizeof *annotations);
    struct meta draft = *job->meta;
    struct object *result;

    draft.n_annotations = 0;
    for (uint32_t i = 0; i < job->meta->n_annotations; i++)
        if (!is_among(job->meta->annotations[i].key, set, n))
            annotations[draft.n_annotations++] = job->meta->annotations[i];
    for (size_t i = 0; i < n; i++)
        annotations[draft.n_annotations++] = set[i];
    draft.annotations = annotations;
    result = object_with_meta(job, meta_new(&draft));
    mem_free(annotations);
    return result;
}
