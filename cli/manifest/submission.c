/*
 * Makes objects of submissions as a daemon does, without asking one. The ids of jobs are digests,
 * because the next run of the same file goes on with the same jobs.
 */
#include "cli/manifest/submission.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/submit/ids.h"
#include "api/submit/item.h"
#include "api/submit/request.h"
#include "base/buf.h"
#include "base/digest/sha256.h"
#include "base/mem.h"

bool submission_is(const json_t *doc)
{
    return json_is_object(doc) && !json_object_get(doc, "apiVersion") &&
           !json_object_get(doc, "kind") && submission_items(doc, NULL);
}

json_t *submission_items(const json_t *doc, const char **out_key)
{
    static const char *const keys[] = {"jobs", "jobRequestItems"};

    for (size_t k = 0; k < countof(keys); k++) {
        json_t *items = json_object_get(doc, keys[k]);

        if (!items)
            continue;
        if (out_key)
            *out_key = keys[k];
        return items;
    }
    return NULL;
}

/* Returns the file's name without folders and ending; owned. */
static char *job_set_of(const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    const char *dot = strrchr(name, '.');

    if (strcmp(file, "-") == 0 || strcmp(file, "standard input") == 0)
        return mem_strdup("stdin");
    return mem_printf("%.*s", (int)(dot && dot > name ? dot - name : (long)strlen(name)), name);
}

static void set_default(json_t *doc, const char *key, const char *given, const char *otherwise)
{
    if (given)
        json_object_set_new(doc, key, json_string(given));
    else if (!json_object_get(doc, key))
        json_object_set_new(doc, key, json_string(otherwise));
}

void submission_set_defaults(json_t *doc, const char *file, const char *queue, const char *job_set)
{
    scoped_str name = job_set_of(file);

    set_default(doc, "queue", queue, "default");
    if (job_set)
        json_object_del(doc, "job_set_id"); /* another spelling of jobSetId */
    if (!json_object_get(doc, "job_set_id"))
        set_default(doc, "jobSetId", job_set, name);
}

/* Reads queue and job set; owned. */
static json_t *read_head(const json_t *doc, struct submit_problems *problems)
{
    struct submit_problems warnings = {0};
    json_t *head =
        submit_fields_read(doc, submit_request_fields, "", SUBMIT_STRICT, problems, &warnings);

    submit_problems_release(&warnings);
    return head;
}

bool submission_check_head(const json_t *doc, struct submit_problems *problems)
{
    scoped(json) json_t *head = read_head(doc, problems);
    size_t count = json_array_size(json_object_get(head, "jobRequestItems"));

    if (problems->count == 0 && count == 0)
        submit_problem(problems, "NoItems", "", "at least one job is required");
    if (count > SUBMIT_ITEMS_MAX)
        submit_problem(problems, "TooManyItems", "",
                       "at most %d jobs are accepted in one document, and it has %zu",
                       SUBMIT_ITEMS_MAX, count);
    if (problems->count == 0 && strlen(submit_text_at(head, "jobSetId")) > SUBMIT_JOB_SET_MAX)
        submit_problem(problems, "JobSetIdTooLong", "jobSetId", "must have at most %d bytes",
                       SUBMIT_JOB_SET_MAX);
    return problems->count == 0;
}

static void id_of_text(const struct buf *text, char out[SUBMIT_ID_LEN + 1])
{
    char hex[SHA256_TEXT_MAX];
    struct sha256 digest;

    sha256_of(text->data, text->len, &digest);
    sha256_format(&digest, hex);
    snprintf(out, SUBMIT_ID_LEN + 1, "%.*s", SUBMIT_ID_LEN, hex);
}

static void id_of_dedup(const struct submit_context *ctx, const char *dedup,
                        char out[SUBMIT_ID_LEN + 1])
{
    scoped(buf) struct buf text = {0};

    buf_printf(&text, "id\n%s\n%s", ctx->queue, dedup);
    id_of_text(&text, out);
}

/* Files of one name in several folders may have one job set: the number of the file among them is
 * then part of the id, because each item is a job of its own. */
static void id_of_place(const struct submit_context *ctx, const struct submission_place *place,
                        const json_t *seen, char out[SUBMIT_ID_LEN + 1])
{
    scoped(buf) struct buf text = {0};
    scoped_str name = job_set_of(place->file);
    size_t number = 0;

    do {
        buf_clear(&text);
        buf_printf(&text, "place\n%s\n%s\n%s\n%zu\n%zu\n%zu", ctx->queue, ctx->job_set, name,
                   place->document, place->item, number++);
        id_of_text(&text, out);
    } while (json_object_get(seen, out));
}

/* Leaves the namespace out where the item names none, so that it is that of the command. */
static void forget_namespace(json_t *docs)
{
    json_t *doc;
    size_t i;

    json_array_foreach(docs, i, doc) json_object_del(json_object_get(doc, "metadata"), "namespace");
}

bool submission_make(const json_t *doc, const struct submission_place *place, json_t *seen,
                     struct submission_objects *out, struct submit_problems *problems,
                     struct submit_problems *warnings)
{
    const char *key = "jobs";
    const json_t *items = submission_items(doc, &key);
    struct submit_problems of_head = {0}; /* submission_check_head tells them once */
    scoped(json) json_t *head = read_head(doc, &of_head);
    scoped(json) json_t *item = NULL;
    scoped_str path = mem_printf("%s[%zu]", key, place->item);
    const char *dedup;
    struct submit_context ctx = {.queue = submit_text_at(head, "queue"),
                                 .job_set = submit_text_at(head, "jobSetId"),
                                 .problems = problems,
                                 .warnings = warnings};
    char id[SUBMIT_ID_LEN + 1];

    submit_problems_release(&of_head);
    *out = (struct submission_objects){0};
    job_set_hash(ctx.job_set, ctx.job_set_hash);
    item = submit_fields_read(json_array_get(items, place->item), submit_item_fields, path,
                              SUBMIT_STRICT, problems, warnings);
    if (!item)
        return false;
    dedup = submit_text_at(item, "deduplicationId");
    if (*dedup)
        id_of_dedup(&ctx, dedup, id);
    else
        id_of_place(&ctx, place, seen, id);
    if (json_object_get(seen, id))
        return true;
    json_object_set_new(seen, id, json_true());
    out->is_group = json_object_get(json_object_get(item, "mainObject"), "podGroupSpec");
    out->docs = submit_item_build(&ctx, item, path, id);
    out->one_by_one =
        json_array_size(out->docs) == json_array_size(json_object_get(item, "objects")) + 1;
    if (!*submit_text_at(item, "namespace"))
        forget_namespace(out->docs);
    return out->docs != NULL;
}
