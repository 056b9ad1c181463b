/*
 * Objects by namespace and name. Each has the number of the list that last contained it; when a
 * list is complete, objects of earlier lists are removed.
 */
#include "api/client/mirror.h"

#include <string.h>

#include "api/client/resource_path.h"
#include "base/collections/hash.h"
#include "base/log.h"
#include "base/mem.h"

struct mirror_entry {
    char *key; /* key of the object, namespace/name */
    struct object *object;
    unsigned round;
    UT_hash_handle hh;
};

static struct mirror *of(struct reflector *reflector)
{
    return container_of(reflector, struct mirror, reflector);
}

static struct mirror_entry *find(const struct mirror *mirror, const char *ns, const char *name)
{
    scoped_str key = mem_printf("%s/%s", ns ? ns : "", name);
    struct mirror_entry *entry;

    HASH_FIND_STR(mirror->entries, key, entry);
    return entry;
}

static struct mirror_entry *add(struct mirror *mirror, const struct object *object)
{
    struct mirror_entry *entry = mem_alloc(sizeof *entry);

    entry->key = mem_printf("%s/%s", object_namespace(object), object_name(object));
    HASH_ADD_KEYPTR(hh, mirror->entries, entry->key, strlen(entry->key), entry);
    return entry;
}

/* Removes the entry first, because the owner may read the mirror in its callback. */
static void drop(struct mirror *mirror, struct mirror_entry *entry, const struct object *last)
{
    scoped(object) struct object *known = entry->object;

    HASH_DEL(mirror->entries, entry);
    mem_free(entry->key);
    mem_free(entry);
    mirror->changed(mirror, MIRROR_DELETED, known, last ? last : known);
}

/* Decodes an item, which may lack kind and apiVersion. Owned; NULL, with a log message, for an
 * object that this version cannot decode. */
static struct object *read_object(const struct mirror *mirror, json_t *doc)
{
    struct error_list errors = {0};
    struct object *object;
    struct error err = {0};

    json_object_set_new(doc, "apiVersion", json_string(kind_api_version(mirror->kind)));
    json_object_set_new(doc, "kind", json_string(mirror->kind->name));
    object = object_from_json(doc, &errors);
    if (object && *object_uid(object)) {
        error_list_release(&errors);
        return object;
    }
    error_list_ok(&errors, &err);
    log_warn("an object of the server is no object", kv_str("kind", mirror->kind->name),
             kv_str("field", err.field), kv_str("error", err.message));
    error_list_release(&errors);
    object_unref(object);
    return NULL;
}

static void on_begun(struct reflector *reflector)
{
    of(reflector)->round++;
}

static void on_present(struct reflector *reflector, json_t *doc)
{
    struct mirror *mirror = of(reflector);
    scoped(object) struct object *object = read_object(mirror, doc);
    scoped(object) struct object *old = NULL;
    struct mirror_entry *entry =
        object ? find(mirror, object_namespace(object), object_name(object)) : NULL;

    if (!object)
        return;
    if (entry && strcmp(object_uid(entry->object), object_uid(object)) != 0) {
        drop(mirror, entry, NULL);
        entry = NULL;
        if (!reflector->started)
            return;
    }
    if (entry && entry->object->revision == object->revision) {
        entry->round = mirror->round;
        return;
    }
    if (!entry)
        entry = add(mirror, object);
    old = entry->object;
    entry->object = object_ref(object);
    entry->round = mirror->round;
    mirror->changed(mirror, old ? MIRROR_MODIFIED : MIRROR_ADDED, old, object);
}

static void on_vanished(struct reflector *reflector, json_t *doc)
{
    struct mirror *mirror = of(reflector);
    scoped(object) struct object *last = read_object(mirror, doc);
    struct mirror_entry *entry =
        last ? find(mirror, object_namespace(last), object_name(last)) : NULL;

    if (entry && strcmp(object_uid(entry->object), object_uid(last)) == 0)
        drop(mirror, entry, last);
}

static void on_listed(struct reflector *reflector)
{
    struct mirror *mirror = of(reflector);
    struct mirror_entry *entry, *next;

    HASH_ITER(hh, mirror->entries, entry, next)
    {
        if (entry->round == mirror->round)
            continue;
        drop(mirror, entry, NULL);
        if (!reflector->started)
            return;
    }
    if (mirror->synced)
        mirror->synced(mirror);
}

static void on_failed(struct reflector *reflector, const struct error *err)
{
    struct mirror *mirror = of(reflector);

    if (mirror->failed)
        mirror->failed(mirror, err);
}

static const struct reflector_ops ops = {on_begun, on_present, on_vanished, on_listed, on_failed};

void mirror_start(struct mirror *mirror, struct remote *remote)
{
    scoped(buf) struct buf path = {0};

    resource_write_path(mirror->kind, mirror->kind->namespaced ? mirror->ns : NULL, NULL, &path);
    resource_write_query("labelSelector", mirror->labels, &path);
    mirror->reflector = (struct reflector){
        .ops = &ops,
        .remote = remote,
        .collection = buf_take(&path),
        .event_bytes_max = mirror->event_bytes_max,
    };
    reflector_start(&mirror->reflector);
}

void mirror_stop(struct mirror *mirror)
{
    struct mirror_entry *entry, *next;

    reflector_stop(&mirror->reflector);
    HASH_ITER(hh, mirror->entries, entry, next)
    {
        HASH_DEL(mirror->entries, entry);
        object_unref(entry->object);
        mem_free(entry->key);
        mem_free(entry);
    }
}

bool mirror_is_synced(const struct mirror *mirror)
{
    return mirror->reflector.synced;
}
