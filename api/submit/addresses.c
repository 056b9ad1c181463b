/*
 * A Service gets its address from the node after it was made. That change of the Service adds the
 * address to the annotation of its job, in the same commit. O(ports) for a change of a Service.
 */
#include "api/submit/addresses.h"

#include <string.h>

#include "api/submit/annotate.h"
#include "api/submit/fields.h"
#include "api/submit/item.h"
#include "api/types/kinds/job/job.h"
#include "api/types/lives_with.h"
#include "base/mem.h"

struct submit_addresses {
    struct registry *registry;
    struct store_listener listener;
};

/* Appends the entries of `list` whose port is not that of the Service. */
static void keep_others(const char *list, const json_t *ports, struct buf *out)
{
    while (list && *list) {
        size_t len = strcspn(list, ",");
        long long number = strtoll(list, NULL, 10);
        bool replaced = false;
        json_t *port;
        size_t i;

        json_array_foreach(ports, i, port) replaced =
            replaced || json_integer_value(json_object_get(port, "port")) == number;
        if (!replaced)
            buf_printf(out, "%s%.*s", out->len > 0 ? "," : "", (int)len, list);
        list += len + (list[len] == ',');
    }
}

static void write_list(const char *known, const json_t *ports, const char *ip, struct buf *out)
{
    json_t *port;
    size_t i;

    keep_others(known, ports, out);
    json_array_foreach(ports, i, port)
    {
        long long number = json_integer_value(json_object_get(port, "port"));

        buf_printf(out, "%s%lld=%s:%lld", out->len > 0 ? "," : "", number, ip, number);
    }
}

static void take_address(struct submit_addresses *a, const struct object *service,
                         const struct object *job)
{
    scoped(json) json_t *body = object_body_json(service);
    const json_t *spec = json_object_get(body, "spec");
    const char *ip = submit_text_at(spec, "clusterIP");
    const char *known = meta_annotation(job->meta, ANNOTATION_ADDRESSES);
    scoped(buf) struct buf list = {0};

    if (!*ip || strcmp(ip, "None") == 0)
        return;
    write_list(known, json_object_get(spec, "ports"), ip, &list);
    if (list.data && (!known || strcmp(known, list.data) != 0))
        submit_annotate(a->registry, job, ANNOTATION_ADDRESSES, list.data);
}

static void on_change(struct store_listener *listener, enum store_change change,
                      const struct object *old, const struct object *object)
{
    struct submit_addresses *a = container_of(listener, struct submit_addresses, listener);
    const char *id, *name;
    const struct object *job;

    if (object->kind != &kind_service || change == STORE_DELETED ||
        (old && old->body == object->body))
        return;
    id = meta_label(object->meta, LABEL_JOB_ID);
    name = lives_with(object->meta);
    job = id && name
              ? store_get(registry_store(a->registry), &kind_job, object_namespace(object), name)
              : NULL;
    if (job && meta_label(job->meta, LABEL_JOB_ID) &&
        strcmp(meta_label(job->meta, LABEL_JOB_ID), id) == 0)
        take_address(a, object, job);
}

struct submit_addresses *submit_addresses_start(struct registry *registry)
{
    struct submit_addresses *a = mem_alloc(sizeof *a);

    *a = (struct submit_addresses){.registry = registry, .listener = {.changed = on_change}};
    store_listen(registry_store(registry), &a->listener);
    return a;
}

void submit_addresses_stop(struct submit_addresses *a)
{
    if (!a)
        return;
    store_unlisten(registry_store(a->registry), &a->listener);
    mem_free(a);
}
