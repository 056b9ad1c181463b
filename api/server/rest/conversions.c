/*
 * Converts jobs to templates and templates to jobs: GET …/jobs/NAME/template, and
 * POST …/jobtemplates/NAME/instantiate with {metadata: {name | generateName}, patch}. The program
 * supplies the conversions (api_set_conversions), because the room of the API may not depend on the
 * room of templates. Ref: spec/jobflow.md 13.8.
 */
#include <string.h>

#include "api/server/rest/internal.h"
#include "api/types/kinds/jobflow/jobflow.h"

void api_set_conversions(struct api *api, const struct api_conversions *conversions)
{
    api->conversions = *conversions;
}

/* Returns the object to convert; NULL with NOT_FOUND, or NOT_IMPLEMENTED without conversions. */
static const struct object *find_source(const struct api_call *call, struct error *err)
{
    if (call->api->conversions.to_job)
        return find_object(call, err);
    error_set(err, ERR_NOT_IMPLEMENTED, "",
              "this server does not convert between jobs and templates");
    return NULL;
}

/* Returns the template from which the job was made, according to its annotation; NULL. */
static const struct object *origin_of(const struct api_call *call, const struct object *job)
{
    const char *full = meta_annotation(job->meta, LABEL_CREATED_BY_TEMPLATE);
    size_t len = strlen(object_namespace(job));

    if (!full || strncmp(full, object_namespace(job), len) != 0 || full[len] != '.')
        return NULL;
    return store_get(call->api->store, &kind_job_template, object_namespace(job), full + len + 1);
}

/* Returns whether a job made from the template now would have exactly this body. */
static bool yields(const struct api_call *call, const struct object *job_template,
                   const struct object *job)
{
    const struct registry_write how = {.dry_run = REGISTRY_DRY_RUN};
    scoped(json) json_t *doc = call->api->conversions.to_job(job_template, NULL, NULL);
    json_t *metadata = json_object_get(doc, "metadata");
    const struct object *draft = NULL;
    struct error_list errors = {0};
    bool same;

    json_object_del(metadata, "name");
    json_object_set_new(metadata, "generateName", json_string("job-"));
    same = doc && registry_create(call->api->registry, doc, &how, &draft, &errors) &&
           draft->body == job->body; /* equal bodies are one interned blob */
    error_list_release(&errors);
    return same;
}

/* Replaces the spec by that of the original template if the template still yields this job, so that
 * values filled in by admission are left out. */
static void restore_spec(const struct api_call *call, const struct object *job,
                         json_t *job_template)
{
    const struct object *origin = origin_of(call, job);
    scoped(json) json_t *body =
        origin && yields(call, origin, job) ? object_body_json(origin) : NULL;

    if (body)
        json_object_set(job_template, "spec", json_object_get(body, "spec"));
}

struct api_stream *verb_template(const struct api_call *call)
{
    struct reply reply = {.status = 200};
    struct error err = {0};
    const struct object *job = find_source(call, &err);
    scoped(json) json_t *doc = NULL, *job_template = NULL;

    if (!job)
        return reply_error(call, &err);
    doc = object_to_json(job);
    job_template = call->api->conversions.to_template(doc);
    restore_spec(call, job, job_template);
    json_text(job_template, &reply.body);
    buf_char(&reply.body, '\n');
    return reply_send(call, &reply, STREAM_DURABLE);
}

static bool check_members(const json_t *body, struct error *err)
{
    static const char *const known[] = {"apiVersion", "kind", "metadata", "patch"};
    const json_t *patch = json_object_get(body, "patch");
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)body, key, value)
    {
        bool found = false;

        for (size_t i = 0; i < countof(known); i++)
            found |= strcmp(known[i], key) == 0;
        if (!found)
            return error_set(err, ERR_BAD_REQUEST, "",
                             "strict decoding error: unknown field \"%s\"", key);
    }
    if (patch && !json_is_null(patch) && !json_is_object(patch))
        return error_set(err, ERR_INVALID, "patch", "Invalid value: must be an object");
    return true;
}

/* Sets the job's metadata; the request takes precedence over the template. */
static bool set_metadata(const struct api_call *call, json_t *job, const json_t *asked,
                         struct error *err)
{
    json_t *metadata = json_object_get(job, "metadata");
    static const char *const maps[] = {"labels", "annotations"};
    const json_t *name = json_object_get(asked, "name");
    const json_t *prefix = json_object_get(asked, "generateName");

    if (!json_is_string(name) && !json_is_string(prefix))
        return error_set(err, ERR_INVALID, "metadata.name",
                         "Required value: name or generateName is required");
    json_object_del(metadata, "name");
    json_object_set(metadata, json_is_string(name) ? "name" : "generateName",
                    (json_t *)(uintptr_t)(json_is_string(name) ? name : prefix));
    json_object_set_new(metadata, "namespace", json_string(call->route.ns));
    for (size_t i = 0; i < countof(maps); i++) {
        json_t *added = json_object_get(asked, maps[i]);

        if (!json_is_object(added))
            continue;
        if (json_object_get(metadata, maps[i]))
            json_object_update_missing(added, json_object_get(metadata, maps[i]));
        json_object_set(metadata, maps[i], added);
    }
    return true;
}

struct api_stream *verb_instantiate(const struct api_call *call)
{
    scoped(write) struct write write = {0};
    scoped(json) json_t *body = NULL, *job = NULL;
    struct error err = {0};
    const struct object *job_template;

    if (!write_init(&write, call, &err))
        return reply_option_error(call, "CreateOptions", &err);
    body = body_parse(call, NULL, &err);
    job_template = body && check_members(body, &err) ? find_source(call, &err) : NULL;
    if (job_template)
        job = call->api->conversions.to_job(job_template, json_object_get(body, "patch"), &err);
    if (!job || !set_metadata(call, job, json_object_get(body, "metadata"), &err))
        return reply_error(call, &err);
    if (!registry_create(call->api->registry, job, &write.how, &write.object, &write.errors))
        return reply_errors(call, &write.errors);
    return reply_object(call, 201, write.object, &write.warnings);
}
