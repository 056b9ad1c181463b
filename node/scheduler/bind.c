/*
 * Builds and caches the bodies of bound pods. Nearly every pod body is compact JSON that begins
 * with {"spec":{ and is edited as text; other bodies are parsed and rebuilt.
 */
#include "node/scheduler/bind.h"

#include <string.h>

#include "api/types/kinds/pod/pod.h"

void binder_release(struct binder *binder)
{
    for (size_t i = 0; i < BINDER_SLOTS; i++) {
        blob_unref(binder->slots[i].from);
        blob_unref(binder->slots[i].to);
        binder->slots[i].from = binder->slots[i].to = NULL;
    }
}

static struct blob *spliced(const char *node_name, const struct blob *body)
{
    static const char head[] = "{\"spec\":{";
    size_t head_len = sizeof head - 1;
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);

    if (strncmp(body->text, head, head_len) != 0)
        return NULL;
    buf_reserve(&text, body->len + 64 + strlen(node_name));
    buf_add(&text, head, head_len);
    jsonw_member_str(&w, "nodeName", node_name);
    if (body->text[head_len] != '}')
        buf_char(&text, ',');
    buf_add(&text, body->text + head_len, body->len - head_len);
    return blob_intern(text.data, text.len);
}

static struct blob *rebuilt(const char *node_name, const struct object *pod)
{
    scoped(json) json_t *body = object_body_json(pod);
    json_t *spec = json_object_get(body, "spec");

    if (!spec) {
        spec = json_object();
        json_object_set_new(body, "spec", spec);
    }
    json_object_set_new(spec, "nodeName", json_string(node_name));
    return object_body_from_json(body);
}

static struct blob *build(const char *node_name, const struct object *pod)
{
    struct blob *bound = NULL;

    /* An explicit nodeName: "" must not be followed by a second, duplicate member. */
    if (!pod_spec_of(pod)->node_name)
        bound = spliced(node_name, pod->body);
    if (!bound)
        bound = rebuilt(node_name, pod);
    /* Binding changes nothing that admission checks, so the result of admission stays valid. */
    if (!bound->admitted_as)
        bound->admitted_as = pod->body->admitted_as;
    return bound;
}

struct blob *binder_body(struct binder *binder, const struct object *pod)
{
    size_t slot = ((uintptr_t)pod->body >> 6) % BINDER_SLOTS;

    if (!pod->body->interned)
        return build(binder->node_name, pod);
    if (binder->slots[slot].from != pod->body) {
        blob_unref(binder->slots[slot].from);
        blob_unref(binder->slots[slot].to);
        binder->slots[slot].from = blob_ref(pod->body);
        binder->slots[slot].to = build(binder->node_name, pod);
    }
    return blob_ref(binder->slots[slot].to);
}
