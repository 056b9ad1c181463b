/*
 * Turns the changes of one loop turn into a durable commit.
 *
 *   gathering ──(end of turn, no commit in flight, commit due)──► in flight ──► durable
 *                                                                     │
 *                                   disk full: retry every second ◄───┘
 *
 * One batch is in flight at a time; meanwhile, later turns add to the next batch. The loop is held
 * during a commit, so that virtual time waits for the disk.
 */
#include "api/store/internal.h"
#include "base/log.h"

static bool nothing_gathered(const struct store *store)
{
    return store->gathering.revision == 0;
}

static void fail_for_good(struct store *store, const struct error *err)
{
    store->state = STORE_FAILED;
    timer_stop(store->loop, &store->delay);
    timer_stop(store->loop, &store->retry);
    log_error("store not written", kv_str("file", store->dir.database),
              kv_str("error", err->message));
    if (store->failed)
        store->failed(store->failed_ctx, err);
}

enum { COALESCING_MIN_NS = 1000000, COALESCING_MAX_NS = 5000000, COALESCING_PART = 3 };

static void coalescing_batch_sent(struct store *store)
{
    struct coalescing *coalescing = &store->coalescing;

    coalescing->in_flight = coalescing->gathered;
    coalescing->gathered = 0;
    coalescing->sent_ns = loop_mono_ns(store->loop);
}

/* After a slow commit, the next batch waits a while for the clients that the commit answered: their
 * next requests usually follow at once. */
static void coalescing_batch_done(struct store *store)
{
    struct coalescing *coalescing = &store->coalescing;
    int64_t now_ns = loop_mono_ns(store->loop), took_ns = now_ns - coalescing->sent_ns;
    int64_t part_ns = took_ns / COALESCING_PART;

    coalescing->wanted = coalescing->gathered + coalescing->in_flight;
    coalescing->until_ns = 0;
    if (took_ns >= COALESCING_MIN_NS && coalescing->in_flight > 1)
        coalescing->until_ns = now_ns + (part_ns < COALESCING_MAX_NS ? part_ns : COALESCING_MAX_NS);
}

/* Returns how long the next batch still waits for those clients; 0 or less = not at all. */
static int64_t coalescing_wait_ns(const struct store *store)
{
    const struct coalescing *coalescing = &store->coalescing;

    if (store->urgent || !coalescing->until_ns || coalescing->gathered >= coalescing->wanted)
        return 0;
    return coalescing->until_ns - loop_mono_ns(store->loop);
}

static void send_batch(struct store *store)
{
    store->waiting_for_space = false;
    loop_hold(store->loop);
    if (store->committer)
        committer_send(store->committer, &store->in_flight);
    else
        loop_post(store->loop, &store->instant);
}

static void seal(struct store *store)
{
    struct batch spare = store->in_flight;

    bodies_sweep(&store->bodies, &store->gathering);
    if (store->revision + REVISIONS_RESERVED / 2 > store->revision_mark)
        store->gathering.revision_mark = store->revision + REVISIONS_RESERVED;
    store->in_flight = store->gathering;
    store->gathering = spare;
    store->gathering.number = ++store->batches;
    store->committing = true;
    store->hurried = store->urgent = store->awaited = false;
    coalescing_batch_sent(store);
    timer_stop(store->loop, &store->delay);
}

static void gather_more(struct store *store)
{
    bool awaited = store->gathering.n_tasks > 0 || store->options.idle_delay_ms == 0;

    if (timer_armed(&store->delay) && store->awaited == awaited)
        return;
    store->awaited = awaited;
    timer_start(store->loop, &store->delay,
                awaited ? store->options.max_delay_ms : store->options.idle_delay_ms);
}

static void end_turn(struct turn_hook *hook)
{
    struct store *store = container_of(hook, struct store, turn_end);

    if (store->committing || store->state == STORE_FAILED || nothing_gathered(store))
        return;
    if (!store->hurried && store->options.max_delay_ms > 0) {
        gather_more(store);
        return;
    }
    if (coalescing_wait_ns(store) > 0) {
        if (!timer_armed(&store->delay))
            timer_start_ns(store->loop, &store->delay, coalescing_wait_ns(store));
        return;
    }
    seal(store);
    send_batch(store);
}

static void delay_over(struct timer *timer)
{
    struct store *store = container_of(timer, struct store, delay);

    store->hurried = true;
}

static void count_report(struct store *store, const struct committer_report *report)
{
    store->commits++;
    store->rows_written += report->counts.rows;
    store->bytes_bound += report->counts.bytes;
}

static void finish_flight(struct store *store)
{
    struct batch *batch = &store->in_flight;
    uint64_t from = store->durable;

    store->committing = false;
    coalescing_batch_done(store);
    store->durable = batch->changes_end;
    store->durable_revision = batch->revision;
    if (batch->revision_mark)
        store->revision_mark = batch->revision_mark;
    store_watch_deliver(store, from);
    for (size_t i = 0; i < batch->n_tasks; i++)
        loop_post(store->loop, batch->tasks[i]);
    batch_clear(batch);
    store_window_trim(store);
}

/* From now on the registry accepts only deletes, which have the space of the reserve, until the
 * reserve is complete again. */
void store_is_full(struct store *store, const struct error *err)
{
    if (store->state != STORE_FULL)
        log_error("disk full: only deletes are taken", kv_str("file", store->dir.database),
                  kv_str("error", err->message));
    store->state = STORE_FULL;
    if (store->dir.reserved)
        store_dir_move_reserve(&store->dir);
    store->no_room = !store_dir_has_room(&store->dir);
}

static void wait_for_space(struct store *store, const struct error *err)
{
    bool reserve = store->dir.reserved;

    store_is_full(store, err);
    store->waiting_for_space = true;
    timer_start(store->loop, &store->retry, reserve ? 0 : RETRY_MS);
}

static void flight_over(void *ctx, const struct committer_report *report)
{
    struct store *store = ctx;

    loop_unhold(store->loop);
    switch (report->outcome) {
    case DB_OK:
        count_report(store, report);
        finish_flight(store);
        if (store->state == STORE_FULL)
            store->no_room = !store_dir_has_room(&store->dir);
        if (store->state == STORE_FULL && !timer_armed(&store->retry))
            timer_start(store->loop, &store->retry, RETRY_MS);
        break;
    case DB_NO_SPACE:
        wait_for_space(store, &report->err);
        break;
    case DB_FAILED:
        fail_for_good(store, &report->err);
        break;
    }
}

static void retry_full(struct timer *timer)
{
    struct store *store = container_of(timer, struct store, retry);

    if (store->waiting_for_space) {
        send_batch(store);
        return;
    }
    if (!store_dir_take_reserve(&store->dir)) {
        store->no_room = !store_dir_has_room(&store->dir);
        timer_start(store->loop, timer, RETRY_MS);
        return;
    }
    store->no_room = false;
    store->gathering.trim_log = true;
    store->state = STORE_OPEN;
    log_warn("disk has room again", kv_str("file", store->dir.database));
}

static void instant_over(struct task *task)
{
    const struct committer_report report = {.outcome = DB_OK};

    flight_over(container_of(task, struct store, instant), &report);
}

void store_when_durable(struct store *store, struct task *task)
{
    if (store->state == STORE_FAILED)
        return; /* nothing is committed after a failed commit */
    if (!nothing_gathered(store))
        batch_add_task(&store->gathering, task);
    else if (store->committing)
        batch_add_task(&store->in_flight, task); /* the store thread does not look at tasks */
    else
        loop_post(store->loop, task);
}

void store_forget(struct store *store, struct task *task)
{
    batch_drop_task(&store->gathering, task);
    batch_drop_task(&store->in_flight, task);
    loop_cancel(store->loop, task);
}

void store_hurry(struct store *store)
{
    if (!nothing_gathered(store))
        store->hurried = store->urgent = true;
}

void store_hurry_together(struct store *store)
{
    if (nothing_gathered(store))
        return;
    store->hurried = true;
    store->coalescing.gathered++;
}

void store_on_failure(struct store *store, void (*failed)(void *ctx, const struct error *err),
                      void *ctx)
{
    store->failed = failed;
    store->failed_ctx = ctx;
}

void store_commit_start(struct store *store)
{
    store->gathering.number = ++store->batches;
    store->turn_end.end = end_turn;
    store->delay.fire = delay_over;
    store->retry.fire = retry_full;
    store->instant.run = instant_over;
    loop_on_turn_end(store->loop, &store->turn_end);
    if (store->state == STORE_FULL)
        timer_start(store->loop, &store->retry, RETRY_MS);
    if (store->db && store->state == STORE_OPEN)
        store->gathering.trim_log = store_dir_log_has_reserve(&store->dir);
    if (store->db)
        store->committer = committer_start(store->loop, store->db, flight_over, store);
}

/* Waits for the batch in flight without running the loop. Used on close. */
static bool wait_for_batch(struct store *store)
{
    struct committer_report report = {.outcome = DB_OK};

    if (store->waiting_for_space)
        send_batch(store);
    loop_unhold(store->loop);
    if (store->committer)
        committer_wait(store->committer, &report);
    store->committing = false;
    if (report.outcome != DB_OK)
        log_error("store not written", kv_str("file", store->dir.database),
                  kv_str("error", report.err.message));
    return report.outcome == DB_OK;
}

bool store_commit_stop(struct store *store)
{
    bool ok = store->state != STORE_FAILED;

    loop_off_turn_end(store->loop, &store->turn_end);
    timer_stop(store->loop, &store->delay);
    timer_stop(store->loop, &store->retry);
    if (ok && store->committing)
        ok = wait_for_batch(store);
    if (ok && !nothing_gathered(store)) {
        batch_clear(&store->in_flight);
        seal(store);
        send_batch(store);
        ok = wait_for_batch(store);
    }
    loop_cancel(store->loop, &store->instant);
    committer_stop(store->committer);
    batch_release(&store->gathering);
    batch_release(&store->in_flight);
    return ok;
}

bool store_copy(struct store *store, const char *path,
                void (*done)(void *ctx, const struct error *err), void *ctx, struct error *err)
{
    if (!store->committer)
        return error_set(err, ERR_NOT_IMPLEMENTED, "",
                         "this store is not open for writing in a data directory");
    return committer_copy(store->committer, path, done, ctx, err);
}

void store_copy_cancel(struct store *store)
{
    if (store->committer)
        committer_copy_cancel(store->committer);
}
