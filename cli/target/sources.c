/*
 * The table keeps the order of the files.
 */
#include "cli/target/sources.h"

#include <string.h>

#include "api/types/text/doc.h"
#include "cli/target/job_check.h"

struct object *source_object(const json_t *doc)
{
    struct error_list errors = {0};
    struct object *object = object_from_json(doc, &errors);

    error_list_release(&errors);
    return object;
}

void sources_add(struct source **sources, const struct target *target, const char *ns, size_t index,
                 const json_t *doc)
{
    const char *name = doc_text(doc, "metadata.name");
    scoped_str key = mem_printf("%s/%s", ns, name ? name : "");
    struct source *source = mem_alloc(sizeof *source + strlen(key) + 1);

    source->index = index;
    source->object = source_object(doc);
    memcpy(source->key, key, strlen(key) + 1);
    target_check_job(target, json_object_get(doc, "spec"), &source->errors, &source->warnings);
    source->reported = mem_array(source->errors.count + 1, sizeof *source->reported);
    HASH_ADD_STR(*sources, key, source);
}

struct source *sources_find(struct source *sources, const char *ns, const char *name)
{
    scoped_str key = mem_printf("%s/%s", ns, name);
    struct source *source;

    HASH_FIND_STR(sources, key, source);
    return source;
}

void sources_free(struct source *sources)
{
    struct source *source, *next;

    HASH_ITER(hh, sources, source, next)
    {
        HASH_DEL(sources, source);
        object_unref(source->object);
        error_list_release(&source->errors);
        error_list_release(&source->warnings);
        mem_free(source->reported);
        mem_free(source);
    }
}

static void report_one(struct source *source, struct findings *findings, size_t i)
{
    if (!source->reported[i])
        findings_error(findings, source->index, &source->errors.items[i]);
    source->reported[i] = true;
}

void source_report(struct source *source, struct findings *findings)
{
    for (size_t i = 0; i < source->errors.count; i++)
        report_one(source, findings, i);
}

void source_warn(struct source *source, struct findings *findings)
{
    for (size_t i = 0; i < source->warnings.count && !source->warned; i++)
        findings_warn(findings, source->index, &source->warnings.items[i]);
    source->warned = true;
}

bool source_report_equal(struct source *source, struct findings *findings, const struct error *err)
{
    for (size_t i = 0; i < source->errors.count; i++)
        if (strcmp(source->errors.items[i].field, err->field) == 0 &&
            strcmp(source->errors.items[i].message, err->message) == 0) {
            report_one(source, findings, i);
            return true;
        }
    return false;
}
