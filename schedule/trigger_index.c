/*
 * The index is a hash table from a name to the list of its mentions. A list is freed with its last
 * mention.
 */
#include "schedule/trigger_index.h"

#include <string.h>

#include "api/types/kinds/schedule/flowtrigger.h"
#include "base/buf.h"
#include "base/collections/hash.h"
#include "base/mem.h"

struct trigger_mention {
    struct trigger_names *owner;
    struct trigger_name *name;
    TAILQ_ENTRY(trigger_mention) all;
};

struct trigger_name {
    TAILQ_HEAD(, trigger_mention) mentions;
    UT_hash_handle hh;
    char key[];
};

static const char role_keys[] = {
    [TRIGGER_PATTERN] = 'p', [TRIGGER_SOURCE] = 's', [TRIGGER_MAKER] = 'm'};

static void key_text(enum trigger_role role, const char *ns, const char *name, struct buf *out)
{
    buf_printf(out, "%c/%s/%s", role_keys[role], ns, name);
}

static struct trigger_name *find(const struct trigger_index *index, const struct buf *key)
{
    struct trigger_name *name;

    HASH_FIND(hh, index->names, key->data, key->len, name);
    return name;
}

static void mention(struct trigger_index *index, struct trigger_names *owner,
                    enum trigger_role role, const char *ns, const char *text)
{
    struct trigger_mention *item = &owner->items[owner->count++];
    scoped(buf) struct buf key = {0};
    struct trigger_name *name;

    key_text(role, ns, text, &key);
    name = find(index, &key);
    if (!name) {
        name = mem_alloc(sizeof *name + key.len + 1);
        memcpy(name->key, key.data, key.len + 1);
        TAILQ_INIT(&name->mentions);
        HASH_ADD_KEYPTR(hh, index->names, name->key, key.len, name);
    }
    item->owner = owner;
    item->name = name;
    TAILQ_INSERT_TAIL(&name->mentions, item, all);
}

void trigger_names_set(struct trigger_index *index, struct trigger_names *names,
                       const struct object *trigger)
{
    const struct trigger_spec *spec = trigger_spec_of(trigger);
    const char *ns = object_namespace(trigger);

    trigger_names_clear(index, names);
    names->items = mem_alloc((spec->flows.count + 1) * sizeof *names->items);
    if (spec->flow_name)
        mention(index, names, TRIGGER_PATTERN, ns, spec->flow_name);
    for (size_t i = 0; i < spec->flows.count; i++) {
        const struct trigger_source *source = &spec->flows.items[i];

        if (source->name)
            mention(index, names, TRIGGER_SOURCE, ns, source->name);
        else
            mention(index, names, TRIGGER_MAKER, ns, source->trigger);
    }
}

void trigger_names_clear(struct trigger_index *index, struct trigger_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        struct trigger_name *name = names->items[i].name;

        TAILQ_REMOVE(&name->mentions, &names->items[i], all);
        if (TAILQ_EMPTY(&name->mentions)) {
            HASH_DEL(index->names, name);
            mem_free(name);
        }
    }
    mem_free(names->items);
    *names = (struct trigger_names){0};
}

void trigger_index_each(const struct trigger_index *index, const struct object *flow,
                        void (*visit)(struct trigger_names *names, enum trigger_role role))
{
    const struct {
        enum trigger_role role;
        const char *name; /* NULL = none */
    } keys[] = {{TRIGGER_PATTERN, object_name(flow)},
                {TRIGGER_SOURCE, object_name(flow)},
                {TRIGGER_MAKER, meta_label(flow->meta, LABEL_TRIGGER)}};

    for (size_t i = 0; i < countof(keys); i++) {
        scoped(buf) struct buf key = {0};
        struct trigger_name *name;
        struct trigger_mention *item;

        if (!keys[i].name)
            continue;
        key_text(keys[i].role, object_namespace(flow), keys[i].name, &key);
        name = find(index, &key);
        if (!name)
            continue;
        TAILQ_FOREACH(item, &name->mentions, all)
        visit(item->owner, keys[i].role);
    }
}
