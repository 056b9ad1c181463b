/*
 * The disk of a simulation, and what is durable on it.
 *
 * Commits run on the loop instead of the store thread, so that a seed always gives the same run;
 * each takes a while of virtual time, in which the loop goes on. Every accepted change is recorded.
 * When a commit has ended, its changes join the durable history, in which each is checked. After
 * the process was killed, the store that is opened again must hold the durable history up to some
 * later accepted change: reliability.md INV-S1 to INV-S5.
 */
#include <stdio.h>

#include "api/store/committer.h"
#include "api/store/internal.h"
#include "tests/support/power.h"
#include "tests/support/sim_impl.h"

#define WRAPPED(result, name, ...)                                                                 \
    result __real_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__)

struct sim_object *sim_find(struct sim *sim, const char *uid)
{
    struct sim_object *found;

    HASH_FIND_STR(sim->objects, uid, found);
    return found;
}

struct sim_object *sim_named(struct sim *sim, const struct kind *kind, const char *name)
{
    for (struct sim_object *at = sim->objects; at; at = at->hh.next)
        if (at->object && at->kind == kind && strcmp(object_name(at->object), name) == 0 &&
            strcmp(object_namespace(at->object), "default") == 0)
            return at;
    return NULL;
}

/* The sum of these over all objects identifies the content of a store. */
static uint64_t mark_of(const char *uid, int64_t revision)
{
    struct {
        uint64_t uid;
        int64_t revision;
    } both = {hash_stable(uid, strlen(uid)), revision};

    return hash_stable(&both, sizeof both);
}

static struct sim_object *find_or_add(struct sim *sim, const struct sim_change *change)
{
    struct sim_object *known = sim_find(sim, change->uid);

    if (known)
        return known;
    known = mem_alloc(sizeof *known);
    memcpy(known->uid, change->uid, sizeof known->uid);
    known->kind = change->object ? change->object->kind : NULL;
    HASH_ADD_STR(sim->objects, uid, known);
    return known;
}

static const struct kind *const watched[SIM_WATCHES] = {&kind_job_flow, &kind_job, &kind_pod};

static void expect_event(struct sim *sim, const struct kind *kind, int64_t revision)
{
    for (size_t i = 0; i < SIM_WATCHES; i++) {
        struct sim_watch *watch = &sim->watches[i];

        if (watched[i] != kind || !watch->watch)
            continue;
        mem_grow(watch->told, watch->n, watch->capacity);
        watch->told[watch->n++] = revision;
    }
}

static void note_hash(struct sim *sim, const struct sim_change *change)
{
    const struct blob *status = change->object ? change->object->status : NULL;
    struct {
        uint64_t before, uid, status;
        int64_t revision, at_ns;
    } all = {sim->hash, hash_stable(change->uid, strlen(change->uid)),
             status ? hash_stable(status->text, status->len) : 0, change->revision,
             clock_mono_ns(sim->clock)};

    sim->hash = hash_stable(&all, sizeof all);
}

/* The change joins the durable history; its object is consumed. */
static void make_durable(struct sim *sim, struct sim_change *change)
{
    struct sim_object *known = find_or_add(sim, change);

    if (change->revision <= sim->durable)
        sim_violated(sim, "INV-S3: revision %lld after %lld", (long long)change->revision,
                     (long long)sim->durable);
    sim->durable = change->revision;
    sim->change_ns = change->at_ns;
    sim->counts.changes++;
    note_hash(sim, change);
    sim_check_change(sim, known, change->object);
    expect_event(sim, known->kind, change->revision);
    if (known->object)
        sim->fingerprint -= mark_of(known->uid, known->object->revision);
    object_unref((struct object *)known->object);
    known->object = change->object;
    if (known->object)
        sim->fingerprint += mark_of(known->uid, known->object->revision);
}

static void drop_pending(struct sim *sim, size_t n)
{
    sim->n_pending -= n;
    if (sim->n_pending)
        memmove(sim->pending, sim->pending + n, sim->n_pending * sizeof *sim->pending);
}

static void commit_ended(struct sim *sim, int64_t revision)
{
    size_t n = 0;

    while (n < sim->n_pending && sim->pending[n].revision <= revision)
        make_durable(sim, &sim->pending[n++]);
    drop_pending(sim, n);
}

static void note_accepted(struct sim *sim, const char *uid, const struct object *object,
                          int64_t revision)
{
    struct sim_change *change;

    if (sim->dead)
        return;
    if (revision <= sim->newest)
        sim_violated(sim, "P-03: revision %lld was given again after %lld", (long long)revision,
                     (long long)sim->newest);
    sim->newest = revision;
    mem_grow(sim->pending, sim->n_pending, sim->cap_pending);
    change = &sim->pending[sim->n_pending++];
    *change = (struct sim_change){
        .revision = revision, .at_ns = clock_mono_ns(sim->clock), .object = object_ref(object)};
    snprintf(change->uid, sizeof change->uid, "%s", uid);
}

WRAPPED(const struct object *, store_put, struct store *store, struct object *object)
{
    const struct object *stored = __real_store_put(store, object);

    note_accepted(sim_now, object_uid(stored), stored, stored->revision);
    return stored;
}

WRAPPED(void, store_delete, struct store *store, const struct object *object)
{
    char uid[SIM_UID];

    snprintf(uid, sizeof uid, "%s", object_uid(object));
    if (!store_get_uid(store, uid))
        return;
    __real_store_delete(store, object);
    note_accepted(sim_now, uid, NULL, store_revision(store));
}

/* Opening a store: what was durable is there, and nothing that never was accepted. */

static void add_mark(void *arg, const struct object *object)
{
    *(uint64_t *)arg += mark_of(object_uid(object), object->revision);
}

static uint64_t fingerprint_of(const struct store *store)
{
    uint64_t sum = 0;

    for (enum kind_id id = 0; id < KIND_N; id++)
        store_each(store, kind_by_id(id), NULL, add_mark, &sum);
    return sum;
}

static void compare(struct sim *sim, const struct store *store)
{
    const uint64_t found = fingerprint_of(store);
    size_t n = 0;

    while (found != sim->fingerprint && n < sim->n_pending && !sim_is_over(sim))
        make_durable(sim, &sim->pending[n++]);
    if (found != sim->fingerprint)
        sim_violated(sim, "INV-S1: the store that was opened is not what was accepted up to any "
                          "moment since the last commit");
    drop_pending(sim, n);
    for (size_t i = 0; i < sim->n_pending; i++)
        object_unref((struct object *)sim->pending[i].object);
    sim->n_pending = 0;
}

static bool on_event(void *ctx, enum store_change change, const struct object *old,
                     const struct object *object)
{
    struct sim_watch *watch = ctx;
    struct sim *sim = watch->sim;

    if (sim->dead)
        return true;
    if (object->revision > sim->durable)
        sim_violated(sim, "INV-S5: a watch told revision %lld before it was durable",
                     (long long)object->revision);
    else if (watch->at == watch->n || watch->told[watch->at] != object->revision)
        sim_violated(sim, "INV-S5: a watch told revision %lld, but the next one is %lld",
                     (long long)object->revision,
                     (long long)(watch->at < watch->n ? watch->told[watch->at] : -1));
    watch->at += watch->at < watch->n;
    return true;
}

WRAPPED(struct store *, store_open, struct loop *loop, const struct store_options *options,
        struct error *err)
{
    struct store *store = __real_store_open(loop, options, err);

    if (!store)
        return NULL;
    sim_now->opened = true;
    compare(sim_now, store);
    return store;
}

void sim_store_watch(struct sim *sim)
{
    for (size_t i = 0; i < SIM_WATCHES; i++) {
        struct sim_watch *watch = &sim->watches[i];
        const struct store_watch_options options = {watched[i], NULL, -1, on_event, watch};

        watch->sim = sim;
        watch->n = watch->at = 0;
        watch->watch = store_watch_open(engine_store(sim->engine), &options, NULL);
    }
}

void sim_store_unwatch(struct sim *sim, bool complete)
{
    for (size_t i = 0; i < SIM_WATCHES; i++) {
        struct sim_watch *watch = &sim->watches[i];

        if (complete && watch->at != watch->n)
            sim_violated(sim, "INV-S5: a watch did not tell revision %lld",
                         (long long)watch->told[watch->at]);
        if (watch->watch)
            store_watch_close(take(watch->watch));
    }
}

void sim_store_end(struct sim *sim)
{
    struct sim_object *at, *next;

    for (size_t i = 0; i < sim->n_pending; i++)
        object_unref((struct object *)sim->pending[i].object);
    HASH_ITER(hh, sim->objects, at, next)
    {
        HASH_DEL(sim->objects, at);
        object_unref((struct object *)at->object);
        mem_free(at);
    }
    mem_free(sim->pending);
    for (size_t i = 0; i < SIM_WATCHES; i++)
        mem_free(sim->watches[i].told);
}

/* Commits, on the loop. */

struct committer {
    struct loop *loop;
    struct db *db;
    void (*done)(void *ctx, const struct committer_report *report);
    void *ctx;
    const struct batch *batch; /* NULL: none is in flight */
    struct timer timer;
    bool stopping;
    struct error broken;
};

static void commit(struct committer *committer, struct committer_report *out)
{
    struct sim *sim = sim_now;

    *out = (struct committer_report){0};
    if (committer->broken.code) {
        out->outcome = DB_FAILED;
        out->err = committer->broken;
    } else {
        out->outcome = db_commit(committer->db, committer->batch, &out->counts, &out->err);
    }
    if (out->outcome == DB_OK && !sim->dead)
        commit_ended(sim, committer->batch->revision);
    if (out->outcome == DB_FAILED)
        sim_kill(sim);
    committer->batch = NULL;
    if (out->outcome == DB_OK && db_log_is_long(committer->db))
        db_checkpoint(committer->db, &committer->broken);
}

static void commit_takes_place(struct timer *timer)
{
    struct committer *committer = container_of(timer, struct committer, timer);
    struct committer_report report;

    loop_hold(committer->loop);
    commit(committer, &report);
    committer->done(committer->ctx, &report);
}

struct committer *
__wrap_committer_start(struct loop *loop, struct db *db,
                       void (*done)(void *ctx, const struct committer_report *report), void *ctx);
struct committer *
__wrap_committer_start(struct loop *loop, struct db *db,
                       void (*done)(void *ctx, const struct committer_report *report), void *ctx)
{
    struct committer *committer = mem_alloc(sizeof *committer);

    *committer = (struct committer){.loop = loop, .db = db, .done = done, .ctx = ctx};
    committer->timer.fire = commit_takes_place;
    sim_now->committer = committer;
    return committer;
}

/* The store holds the loop during a commit. Here the loop goes on meanwhile. */
WRAPPED(void, committer_send, struct committer *committer, const struct batch *batch)
{
    struct sim *sim = sim_now;

    committer->batch = batch;
    if (committer->stopping)
        return;
    loop_unhold(committer->loop);
    timer_start(committer->loop, &committer->timer,
                sim->slow_ms ? dice_roll(&sim->dice, sim->slow_ms + 1) : 0);
}

WRAPPED(bool, committer_wait, struct committer *committer, struct committer_report *out)
{
    if (!committer->batch)
        return false;
    commit(committer, out);
    return true;
}

WRAPPED(void, committer_stop, struct committer *committer)
{
    if (!committer)
        return;
    timer_stop(committer->loop, &committer->timer);
    sim_now->committer = NULL;
    mem_free(committer);
}

WRAPPED(bool, store_commit_stop, struct store *store)
{
    struct committer *committer = store->committer;

    if (committer) {
        committer->stopping = true;
        if (timer_armed(&committer->timer))
            loop_hold(committer->loop);
        timer_stop(committer->loop, &committer->timer);
    }
    return __real_store_commit_stop(store);
}
