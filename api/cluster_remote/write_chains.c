/*
 * Takes writes from controllers, keeps those to one object in order, and reports their ends.
 */
#include "api/cluster_remote/write_chains.h"

#include <string.h>

#include "api/cluster_remote/internal.h"
#include "api/cluster_remote/merge_difference.h"
#include "base/log.h"

enum { NAME_SUFFIX = 5 };

static char *chain_key(const struct kind *kind, const char *ns, const char *name)
{
    return mem_printf("%d/%s/%s", kind->id, kind->namespaced && ns ? ns : "", name);
}

static struct write_chain *chain_of(struct write_chains *writes, const struct write *write)
{
    scoped_str key = chain_key(write->kind, write->ns, write->name);
    size_t len = strlen(key);
    struct write_chain *chain;

    HASH_FIND_STR(writes->chains, key, chain);
    if (chain)
        return chain;
    chain = mem_alloc(sizeof *chain + len + 1);
    memcpy(chain->key, key, len + 1);
    STAILQ_INIT(&chain->writes);
    HASH_ADD_KEYPTR(hh, writes->chains, chain->key, len, chain);
    return chain;
}

bool write_chains_is_busy(const struct write_chains *writes, const struct kind *kind,
                          const char *ns, const char *name)
{
    scoped_str key = chain_key(kind, ns, name);
    struct write_chain *chain;

    HASH_FIND_STR(writes->chains, key, chain);
    return chain != NULL;
}

static void write_free(struct write *write)
{
    remote_call_release(&write->http);
    timer_stop(write->writes->options.loop, &write->pause);
    buf_release(&write->path);
    buf_release(&write->body);
    json_decref(write->patch);
    object_unref(write->object);
    object_unref(write->base);
    object_unref(write->result);
    blob_unref(write->status);
    mem_free(write->err);
    mem_free(write->uid);
    mem_free(write->ns);
    mem_free(write->name);
    mem_free(write);
}

/* Takes the write out of its chain. The next one, if there is one, may go. */
static void leave_chain(struct write *write)
{
    struct write_chains *writes = write->writes;
    struct write_chain *chain = write->chain;
    bool was_first = STAILQ_FIRST(&chain->writes) == write;

    STAILQ_REMOVE(&chain->writes, write, write, in_chain);
    writes->stats.waiting--;
    if (STAILQ_EMPTY(&chain->writes)) {
        HASH_DEL(writes->chains, chain);
        mem_free(chain);
    } else if (was_first && !writes->fenced) {
        write_queue_add(STAILQ_FIRST(&chain->writes));
    }
}

static void report(const struct write *write, const struct object *result, const struct error *err)
{
    if (write->call)
        write->call->done(write->call, err ? NULL : result, err);
    else if (err)
        log_warn("write refused", kv_str("kind", write->kind->name), kv_str("name", write->name),
                 kv_str("error", err->message));
}

void write_end(struct write *write, const struct object *result, const struct error *err)
{
    leave_chain(write);
    write->step = STEP_ENDED;
    report(write, result, err);
    write_free(write);
}

void write_end_soon(struct write *write, const struct object *result, const struct error *err)
{
    struct write_chains *writes = write->writes;

    leave_chain(write);
    write->step = STEP_ENDED;
    write->result = object_ref(result);
    if (err) {
        write->err = mem_alloc(sizeof *write->err);
        *write->err = *err;
    }
    STAILQ_INSERT_TAIL(&writes->ended, write, ended);
    loop_post(writes->options.loop, &writes->report);
}

static void report_ended(struct write_chains *writes)
{
    struct write *write;

    while ((write = STAILQ_FIRST(&writes->ended))) {
        STAILQ_REMOVE_HEAD(&writes->ended, ended);
        report(write, write->result, write->err);
        write_free(write);
    }
}

static void on_report(struct task *task)
{
    report_ended(container_of(task, struct write_chains, report));
}

static void end_fenced(struct write *write)
{
    struct error err = {0};

    error_set(&err, ERR_UNAVAILABLE, "", "%s", write->writes->fenced);
    write_end_soon(write, NULL, &err);
}

static struct write *write_new(struct write_chains *writes, struct cluster_call *call,
                               enum write_verb verb, const struct kind *kind, const char *ns,
                               const char *name)
{
    struct write *write = mem_alloc(sizeof *write);

    write->writes = writes;
    write->call = call;
    write->verb = verb;
    write->kind = kind;
    write->ns = mem_strdup(ns ? ns : "");
    write->name = mem_strdup(name);
    write->class = kind == &kind_event    ? CLASS_EVENT
                   : verb == WRITE_CREATE ? CLASS_CREATE
                   : verb == WRITE_UPDATE ? CLASS_UPDATE
                                          : CLASS_FIRST;
    return write;
}

static void submit(struct write *write)
{
    struct write_chains *writes = write->writes;
    struct write_chain *chain = chain_of(writes, write);
    bool is_first = STAILQ_EMPTY(&chain->writes);

    write->chain = chain;
    write->step = STEP_PAUSED; /* it waits until the writes before it have ended */
    STAILQ_INSERT_TAIL(&chain->writes, write, in_chain);
    writes->stats.waiting++;
    if (writes->fenced)
        end_fenced(write);
    else if (is_first)
        write_queue_add(write);
}

/* Completes generateName here, not on the server: an answer that is lost can then be looked up. */
static struct object *named(struct write_chains *writes, struct object *draft)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    struct meta meta = *draft->meta;
    char suffix[NAME_SUFFIX + 1] = "";
    scoped_str name = NULL;
    struct object *object;

    if (meta.name && *meta.name)
        return draft;
    for (int i = 0; i < NAME_SUFFIX; i++)
        suffix[i] = letters[clock_random(loop_clock(writes->options.loop)) % (sizeof letters - 1)];
    name = mem_printf("%s%s", meta.generate_name ? meta.generate_name : "", suffix);
    meta.name = name;
    object = object_with_meta(draft, meta_new(&meta));
    object_unref(draft);
    return object;
}

void write_chains_create(struct write_chains *writes, struct cluster_call *call,
                         struct object *draft)
{
    struct object *object = named(writes, draft);
    struct write *write = write_new(writes, call, WRITE_CREATE, object->kind,
                                    object_namespace(object), object_name(object));

    write->object = object;
    submit(write);
}

static char *uid_of(const struct object *object)
{
    return *object_uid(object) ? mem_strdup(object_uid(object)) : NULL;
}

static const struct object *known_version(struct write_chains *writes, const struct object *object)
{
    const struct object *known = cache_get(writes->options.cache, object->kind,
                                           object_namespace(object), object_name(object));
    bool is_it = known && strcmp(object_uid(known), object_uid(object)) == 0;

    return is_it && (!object->revision || known->revision == object->revision) ? known : NULL;
}

void write_chains_update(struct write_chains *writes, struct cluster_call *call,
                         struct object *object)
{
    struct write *write = write_new(writes, call, WRITE_UPDATE, object->kind,
                                    object_namespace(object), object_name(object));
    const struct object *base = known_version(writes, object);
    struct error err = {0};

    write->object = object;
    write->uid = uid_of(object);
    write->revision = object->revision;
    write->base = object_ref(base);
    submit(write);
    if (write->step == STEP_ENDED)
        return;
    if (!base && object->revision) {
        error_set(&err, ERR_CONFLICT, "", "the object has been changed since it was read");
        write_queue_remove(write);
        write_end_soon(write, NULL, &err);
        return;
    }
    write->patch = merge_difference(base, object);
    if (write->patch)
        return;
    write_queue_remove(write);
    write_end_soon(write, base, NULL);
}

void write_chains_update_status(struct write_chains *writes, struct cluster_call *call,
                                const struct object *object, struct blob *status)
{
    struct write *write = write_new(writes, call, WRITE_STATUS, object->kind,
                                    object_namespace(object), object_name(object));

    write->object = object_ref(object);
    write->uid = uid_of(object);
    write->revision = object->revision;
    write->status = status;
    submit(write);
}

void write_chains_remove(struct write_chains *writes, struct cluster_call *call,
                         const struct kind *kind, const char *ns, const char *name,
                         const struct cluster_removal *how)
{
    struct write *write = write_new(writes, call, WRITE_REMOVE, kind, ns, name);

    write->uid = mem_strdup(how->uid);
    write->revision = how->revision;
    write->grace_s = how->grace_s;
    write->propagation = how->propagation;
    submit(write);
}

/* Cancels every write that has not ended. */
static void cancel_all(struct write_chains *writes)
{
    struct write_chain *chain, *next;

    HASH_ITER(hh, writes->chains, chain, next)
    {
        struct write *write, *later;

        for (write = STAILQ_FIRST(&chain->writes); write; write = later) {
            later = STAILQ_NEXT(write, in_chain); /* the last one frees the chain */
            write_queue_remove(write);
            write_cancel(write);
            end_fenced(write);
        }
    }
}

void write_chains_fence(struct write_chains *writes, const char *why)
{
    writes->fenced = why;
    cancel_all(writes);
}

void write_chains_unfence(struct write_chains *writes)
{
    writes->fenced = NULL;
}

struct write_chains_stats write_chains_stats(const struct write_chains *writes)
{
    struct write_chains_stats stats = writes->stats;

    stats.in_flight = writes->in_flight;
    stats.in_flight_limit = writes->in_flight_limit.size;
    return stats;
}

struct write_chains *write_chains_new(const struct write_chains_options *options)
{
    struct write_chains *writes = mem_alloc(sizeof *writes);

    writes->options = *options;
    TAILQ_INIT(&writes->turns);
    TAILQ_INIT(&writes->events);
    STAILQ_INIT(&writes->ended);
    in_flight_limit_init(&writes->in_flight_limit, options->max_in_flight);
    writes->pump.run = write_queue_run;
    writes->report.run = on_report;
    return writes;
}

void write_chains_free(struct write_chains *writes)
{
    if (!writes)
        return;
    write_chains_fence(writes, "the process is stopping");
    report_ended(writes);
    loop_cancel(writes->options.loop, &writes->pump);
    loop_cancel(writes->options.loop, &writes->report);
    terminating_namespaces_release(&writes->terminating);
    mem_free(writes);
}
