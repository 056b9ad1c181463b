#include "tests/fake/faulty.h"

#include <assert.h>

#include "base/mem.h"

enum { RULES_MAX = 16 };

/* A write that is not executed or not answered yet. */
struct write {
    struct write *next; /* next in faulty.writes */
    struct faulty *faulty;
    enum faulty_op op;
    struct cluster_call *call; /* call of the caller; may be NULL */

    struct object *object; /* owned: the new object or version, or the object whose status is
                            * written */
    struct blob *status;   /* status to write; owned */
    const struct kind *kind;
    char *ns, *name, *uid; /* name of the object to delete; owned */
    struct cluster_removal how;

    enum error_code code;    /* error that the caller of a refused or lost write gets */
    struct cluster_call own; /* receives the real response when it is to be lost */
    struct task task;        /* reports a refusal in a later turn */
    struct timer timer;      /* executes a delayed write */
};

struct faulty {
    struct cluster cluster;
    struct cluster *inner;
    struct rule_state {
        struct faulty_rule rule;
        int seen, hit;
    } rules[RULES_MAX];
    size_t n_rules;
    struct write *writes; /* the writes that are not executed or answered yet */
    int n_writes, n_hits;
};

static struct faulty *faulty_of(const struct cluster *c)
{
    return container_of((struct cluster *)(uintptr_t)c, struct faulty, cluster);
}

static void write_free(struct write *write)
{
    for (struct write **at = &write->faulty->writes; *at; at = &(*at)->next) {
        if (*at == write) {
            *at = write->next;
            break;
        }
    }
    loop_cancel(write->faulty->cluster.loop, &write->task);
    timer_stop(write->faulty->cluster.loop, &write->timer);
    object_unref(write->object);
    blob_unref(write->status);
    mem_free(write->ns);
    mem_free(write->name);
    mem_free(write->uid);
    mem_free(write);
}

/* Passes the write to the real cluster, which consumes what the write owns. */
static void perform(struct write *write, struct cluster_call *call)
{
    struct cluster *inner = write->faulty->inner;

    switch (write->op) {
    case FAULTY_CREATE:
        cluster_create(inner, call, take(write->object));
        break;
    case FAULTY_UPDATE:
        cluster_update(inner, call, take(write->object));
        break;
    case FAULTY_STATUS:
        cluster_update_status(inner, call, write->object, take(write->status));
        break;
    case FAULTY_REMOVE:
        cluster_remove(inner, call, write->kind, write->ns, write->name, &write->how);
        break;
    case FAULTY_ANY:
        break;
    }
}

static void answer_badly(struct write *write)
{
    struct cluster_call *call = write->call;
    struct error err = {0};

    error_set(&err, write->code, "", "a fault that was asked for");
    write_free(write);
    if (call)
        call->done(call, NULL, &err);
}

static void on_refused(struct task *task)
{
    answer_badly(container_of(task, struct write, task));
}

static void on_lost(struct cluster_call *call, const struct object *result, const struct error *err)
{
    answer_badly(container_of(call, struct write, own));
}

static void on_delay_over(struct timer *timer)
{
    struct write *write = container_of(timer, struct write, timer);

    perform(write, write->call);
    write_free(write);
}

/* Returns the rule that applies to the write, or NULL. */

static const struct faulty_rule *rule_for(struct faulty *faulty, const struct write *write)
{
    faulty->n_writes++;
    for (size_t i = 0; i < faulty->n_rules; i++) {
        struct rule_state *state = &faulty->rules[i];
        const struct faulty_rule *rule = &state->rule;

        if (!(rule->ops & write->op) || (rule->kind && rule->kind != write->kind) ||
            (rule->but && rule->but == write->kind) || (rule->times && state->hit == rule->times) ||
            state->seen++ < rule->skip)
            continue;
        state->hit++;
        faulty->n_hits++;
        return rule;
    }
    return NULL;
}

/* Handles a write according to the rules. `draft` describes the write and owns its members. */
static void submit(struct cluster *c, const struct write *draft)
{
    struct faulty *faulty = faulty_of(c);
    struct write *write = mem_alloc(sizeof *write);
    const struct faulty_rule *rule;

    *write = *draft;
    write->faulty = faulty;
    write->next = faulty->writes;
    faulty->writes = write;
    rule = rule_for(faulty, write);
    if (!rule) {
        perform(write, write->call);
        write_free(write);
        return;
    }
    write->code = rule->code ? rule->code : ERR_CONFLICT;
    switch (rule->way) {
    case FAULTY_REFUSE:
        write->task.run = on_refused;
        loop_post(c->loop, &write->task);
        break;
    case FAULTY_LOSE:
        write->own.done = on_lost;
        perform(write, &write->own);
        break;
    case FAULTY_DELAY:
        write->timer.fire = on_delay_over;
        timer_start(c->loop, &write->timer, rule->delay_ms);
        break;
    }
}

static void faulty_create(struct cluster *c, struct cluster_call *call, struct object *draft)
{
    submit(c, &(struct write){
                  .op = FAULTY_CREATE, .call = call, .kind = draft->kind, .object = draft});
}

static void faulty_update(struct cluster *c, struct cluster_call *call, struct object *object)
{
    submit(c, &(struct write){
                  .op = FAULTY_UPDATE, .call = call, .kind = object->kind, .object = object});
}

static void faulty_update_status(struct cluster *c, struct cluster_call *call,
                                 const struct object *object, struct blob *status)
{
    submit(c, &(struct write){.op = FAULTY_STATUS,
                              .call = call,
                              .kind = object->kind,
                              .object = object_ref(object),
                              .status = status});
}

static void faulty_remove(struct cluster *c, struct cluster_call *call, const struct kind *kind,
                          const char *ns, const char *name, const struct cluster_removal *how)
{
    struct write write = {.op = FAULTY_REMOVE,
                          .call = call,
                          .kind = kind,
                          .ns = mem_strdup(ns),
                          .name = mem_strdup(name),
                          .uid = mem_strdup(how->uid),
                          .how = *how};

    write.how.uid = write.uid;
    submit(c, &write);
}

/* Reads pass through unchanged. */

static const struct object *faulty_get(struct cluster *c, const struct kind *kind, const char *ns,
                                       const char *name)
{
    return cluster_get(faulty_of(c)->inner, kind, ns, name);
}

static void faulty_each(struct cluster *c, const struct kind *kind, const char *ns,
                        void (*visit)(void *arg, const struct object *object), void *arg)
{
    cluster_each(faulty_of(c)->inner, kind, ns, visit, arg);
}

static void faulty_each_owned(struct cluster *c, const struct kind *kind, const char *owner_uid,
                              void (*visit)(void *arg, const struct object *object), void *arg)
{
    cluster_each_owned(faulty_of(c)->inner, kind, owner_uid, visit, arg);
}

static void faulty_watch(struct cluster *c, struct cluster_watcher *watcher)
{
    cluster_watch(faulty_of(c)->inner, watcher);
}

static void faulty_unwatch(struct cluster *c, struct cluster_watcher *watcher)
{
    cluster_unwatch(faulty_of(c)->inner, watcher);
}

static void faulty_when_durable(struct cluster *c, struct task *task)
{
    cluster_when_durable(faulty_of(c)->inner, task);
}

static void faulty_forget(struct cluster *c, struct task *task)
{
    cluster_forget(faulty_of(c)->inner, task);
}

static void faulty_hurry(struct cluster *c)
{
    cluster_hurry(faulty_of(c)->inner);
}

static const struct cluster_ops ops = {
    .get = faulty_get,
    .each = faulty_each,
    .each_owned = faulty_each_owned,
    .create = faulty_create,
    .update = faulty_update,
    .update_status = faulty_update_status,
    .remove = faulty_remove,
    .watch = faulty_watch,
    .unwatch = faulty_unwatch,
    .when_durable = faulty_when_durable,
    .forget = faulty_forget,
    .hurry = faulty_hurry,
};

struct cluster *faulty_new(struct cluster *inner)
{
    struct faulty *faulty = mem_alloc(sizeof *faulty);

    faulty->cluster = (struct cluster){.ops = &ops, .loop = inner->loop};
    faulty->inner = inner;
    return &faulty->cluster;
}

void faulty_free(struct cluster *cluster)
{
    struct faulty *faulty;

    if (!cluster)
        return;
    faulty = faulty_of(cluster);
    cluster_events_release(cluster);
    while (faulty->writes)
        write_free(faulty->writes);
    mem_free(faulty);
}

void faulty_plan(struct cluster *cluster, const struct faulty_rule *rule)
{
    struct faulty *faulty = faulty_of(cluster);

    assert(faulty->n_rules < RULES_MAX);
    faulty->rules[faulty->n_rules++] = (struct rule_state){.rule = *rule};
}

void faulty_clear(struct cluster *cluster)
{
    faulty_of(cluster)->n_rules = 0;
}

int faulty_writes(const struct cluster *cluster)
{
    return faulty_of(cluster)->n_writes;
}

int faulty_hits(const struct cluster *cluster)
{
    return faulty_of(cluster)->n_hits;
}
