/*
 * Builds the URL and the body of each kind of request.
 */
#include "api/cluster_remote/write_request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/client/resource_path.h"
#include "api/types/text/json_text.h"
#include "base/encoding/jsonw.h"

enum { META_BYTES_MAX = 8 << 10, REVISION_TEXT_MAX = 24 };

static void begin(struct write *write, const char *method, const char *name)
{
    buf_clear(&write->path);
    buf_clear(&write->body);
    resource_write_path(write->kind, write->ns, name, &write->path);
    write->http.method = method;
    write->http.content_type = NULL;
    write->http.limit_ms = REQUEST_LIMIT_MS;
    write->http.once = true;
}

static void finish(struct write *write)
{
    write->http.target = write->path.data;
    write->http.body = write->body.len ? write->body.data : NULL;
    write->http.body_len = write->body.len;
}

static void build_create(struct write *write, bool strict)
{
    begin(write, "POST", NULL);
    resource_write_query("fieldManager", REQUEST_MANAGER, &write->path);
    resource_write_query("fieldValidation", strict ? "Warn" : "Ignore", &write->path);
    object_write(write->object, &write->body);
}

/* Fills in a PUT without the spec, for which the server takes everything but the status from the
 * stored object. Large metadata is left out by a JSON patch, which must give the revision as a
 * value to be replaced. */
static void build_status(struct write *write, bool by_patch)
{
    const struct object *object = write->object;
    struct jsonw w = jsonw_to(&write->body);
    char revision[REVISION_TEXT_MAX];

    if (by_patch || meta_bytes(object->meta) > META_BYTES_MAX) {
        begin(write, "PATCH", write->name);
        write->http.content_type = "application/json-patch+json";
        snprintf(revision, sizeof revision, "%" PRId64, object->revision);
        buf_printf(&write->body,
                   "[{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\",\"value\":\"%s\"},"
                   "{\"op\":\"add\",\"path\":\"/status\",\"value\":",
                   revision);
        buf_add(&write->body, write->status->text, write->status->len);
        buf_str(&write->body, "}]");
    } else {
        begin(write, "PUT", write->name);
        jsonw_open(&w);
        jsonw_member_str(&w, "apiVersion", kind_api_version(write->kind));
        jsonw_member_str(&w, "kind", write->kind->name);
        object_write_meta(object, &w);
        jsonw_member_raw(&w, "status", write->status->text, write->status->len);
        jsonw_close(&w);
    }
    buf_str(&write->path, "/status");
    resource_write_query("fieldManager", REQUEST_MANAGER, &write->path);
}

static void build_update(struct write *write)
{
    json_t *metadata = json_object_get(write->patch, "metadata");

    if (!metadata) {
        metadata = json_object();
        json_object_set_new(write->patch, "metadata", metadata);
    }
    if (write->uid)
        json_object_set_new(metadata, "uid", json_string(write->uid));
    if (write->revision)
        json_object_set_new(metadata, "resourceVersion", json_sprintf("%" PRId64, write->revision));
    begin(write, "PATCH", write->name);
    write->http.content_type = "application/merge-patch+json";
    resource_write_query("fieldManager", REQUEST_MANAGER, &write->path);
    json_text(write->patch, &write->body);
}

static void write_delete_options(struct write *write, const char *uid, int64_t revision,
                                 int64_t grace_s, enum cluster_propagation propagation)
{
    static const char *const words[] = {
        [PROPAGATE_BACKGROUND] = "Background",
        [PROPAGATE_FOREGROUND] = "Foreground",
        [PROPAGATE_ORPHAN] = "Orphan",
    };
    struct jsonw w = jsonw_to(&write->body);
    char text[REVISION_TEXT_MAX];

    jsonw_open(&w);
    jsonw_member_str(&w, "apiVersion", "v1");
    jsonw_member_str(&w, "kind", "DeleteOptions");
    if (uid || revision) {
        jsonw_member_open(&w, "preconditions");
        jsonw_member_str_opt(&w, "uid", uid);
        snprintf(text, sizeof text, "%" PRId64, revision);
        jsonw_member_str_opt(&w, "resourceVersion", revision ? text : NULL);
        jsonw_close(&w);
    }
    if (grace_s >= 0)
        jsonw_member_int(&w, "gracePeriodSeconds", grace_s);
    jsonw_member_str(&w, "propagationPolicy", words[propagation]);
    jsonw_close(&w);
}

void write_request_build_removal(struct write *write, const char *uid)
{
    begin(write, "DELETE", write->name);
    write_delete_options(write, uid, 0, -1, PROPAGATE_BACKGROUND);
    finish(write);
}

static void build_remove(struct write *write)
{
    begin(write, "DELETE", write->name);
    write_delete_options(write, write->uid, write->revision, write->grace_s, write->propagation);
}

void write_request_build(struct write *write, const struct write_request_form *form)
{
    switch (write->verb) {
    case WRITE_CREATE:
        build_create(write, form->strict);
        break;
    case WRITE_UPDATE:
        build_update(write);
        break;
    case WRITE_STATUS:
        build_status(write, form->status_by_patch);
        break;
    case WRITE_REMOVE:
        build_remove(write);
        break;
    }
    finish(write);
}

void write_request_build_read(struct write *write)
{
    begin(write, "GET", write->name);
    finish(write);
}
