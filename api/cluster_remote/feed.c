/*
 * A reflector lists and watches the collection. Each object that arrives is decoded, trimmed and
 * put into the cache.
 */
#include "api/cluster_remote/feed.h"

#include <stdlib.h>
#include <string.h>

#include "api/client/resource_path.h"
#include "base/log.h"
#include "base/mem.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

static bool is_number(const char *text)
{
    return text && *text && strspn(text, "0123456789") == strlen(text);
}

struct object *feed_decode(const struct kind *kind, json_t *doc, struct error *err)
{
    json_t *metadata = json_object_get(doc, "metadata");
    const char *revision = json_string_value(json_object_get(metadata, "resourceVersion"));
    struct error_list errors = {0};
    struct object *object;

    if (revision && !is_number(revision)) {
        error_set(err, ERR_NOT_IMPLEMENTED, "",
                  "resourceVersion \"%.64s\" is not a number: this API server is not supported",
                  revision);
        return NULL;
    }
    json_object_del(metadata, "managedFields");
    if (!kind_is_custom(kind)) /* the status of a custom object is written with its annotations */
        json_object_del(json_object_get(metadata, "annotations"), LAST_APPLIED);
    object = object_of_kind_from_json(kind, doc, &errors);
    if (object && (!*object_uid(object) || !object->revision)) {
        object_unref(object);
        object = NULL;
        error_list_add(&errors, ERR_INVALID, "metadata",
                       "Required value: an object of a server has uid and resourceVersion");
    }
    error_list_ok(&errors, err);
    error_list_release(&errors);
    return object;
}

static struct feed *of(struct reflector *reflector)
{
    return container_of(reflector, struct feed, reflector);
}

/* Decodes an object (owned). When that is not possible, reports why and returns NULL. */
static struct object *take_in(struct feed *feed, json_t *doc)
{
    const json_t *metadata = json_object_get(doc, "metadata");
    const char *uid = json_string_value(json_object_get(metadata, "uid"));
    scoped_str kept = mem_strdup(uid ? uid : "");
    struct error err = {0};
    struct object *object = feed_decode(feed->kind, doc, &err);

    if (object)
        return object;
    if (err.code == ERR_NOT_IMPLEMENTED)
        feed->unsupported(feed, &err);
    else
        log_warn("an object of the cluster is left out", kv_str("kind", feed->kind->name),
                 kv_str("uid", kept), kv_str("field", err.field), kv_str("error", err.message));
    return NULL;
}

static void on_begun(struct reflector *reflector)
{
    struct feed *feed = of(reflector);

    feed->list = cache_list_begin(feed->cache);
}

static void on_present(struct reflector *reflector, json_t *doc)
{
    struct feed *feed = of(reflector);
    scoped(object) struct object *object = take_in(feed, doc);

    if (object)
        cache_take(feed->cache, object, CACHE_FOLLOWED, reflector->listing ? feed->list : 0);
}

static void on_vanished(struct reflector *reflector, json_t *doc)
{
    struct feed *feed = of(reflector);
    scoped(object) struct object *last = take_in(feed, doc);

    if (last)
        cache_take_end(feed->cache, last);
}

static void on_listed(struct reflector *reflector)
{
    struct feed *feed = of(reflector);
    struct error err = {0};

    if (!is_number(reflector->revision)) {
        error_set(&err, ERR_NOT_IMPLEMENTED, "",
                  "resourceVersion \"%.64s\" is not a number: this API server is not supported",
                  reflector->revision);
        feed->unsupported(feed, &err);
        return;
    }
    cache_list_end(feed->cache, feed->kind, feed->ns, feed->list,
                   strtoll(reflector->revision, NULL, 10));
    if (feed->was_synced)
        return;
    feed->was_synced = true;
    feed->synced(feed);
}

static void on_failed(struct reflector *reflector, const struct error *err)
{
    log_warn("a watch of the cluster was lost", kv_str("kind", of(reflector)->kind->name),
             kv_str("error", err->message));
}

static const struct reflector_ops ops = {on_begun, on_present, on_vanished, on_listed, on_failed};

void feed_start(struct feed *feed, struct remote *remote)
{
    scoped(buf) struct buf path = {0};
    scoped_str equal = feed->value ? mem_printf("%s=%s", feed->label, feed->value) : NULL;

    resource_write_path(feed->kind, feed->kind->namespaced ? feed->ns : NULL, NULL, &path);
    resource_write_query("labelSelector", equal ? equal : feed->label, &path);
    feed->reflector = (struct reflector){
        .ops = &ops,
        .remote = remote,
        .collection = buf_take(&path),
        .from_newest = true,
        .streams = feed->streams,
    };
    reflector_start(&feed->reflector);
}

void feed_stop(struct feed *feed)
{
    reflector_stop(&feed->reflector);
}

static bool is_selected(const struct feed *feed, const struct object *object)
{
    const char *value = feed->label ? meta_label(object->meta, feed->label) : NULL;

    return !feed->label || (value && (!feed->value || strcmp(value, feed->value) == 0));
}

bool feed_covers(const struct feed *feed, const struct object *object)
{
    return object->kind == feed->kind &&
           (!feed->ns || strcmp(object_namespace(object), feed->ns) == 0) &&
           is_selected(feed, object);
}
