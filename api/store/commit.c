/*
 * From the changes of a turn to a durable commit.
 *
 *   gathering ──(end of turn: nothing is flying, and it is wanted now)──► flying ──► durable
 *                                                                          │
 *                                       disk full: again every second ◄────┘
 *
 * One batch flies at a time; while it does, later turns gather in the next. The loop is held
 * meanwhile, so that virtual time waits for the disk.
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
    log_error("store not written", kv_str("file", store->place.database),
              kv_str("error", err->message));
    if (store->failed)
        store->failed(store->failed_ctx, err);
}

/* ---- company ---- */

enum { COMPANY_FROM_NS = 1000000, COMPANY_MAX_NS = 5000000, COMPANY_PART = 3 };

static void company_leaves(struct store *store)
{
    struct company *company = &store->company;

    company->flying = company->gathered;
    company->gathered = 0;
    company->launched_ns = loop_mono_ns(store->loop);
}

/* Those of the batch that has landed are expected back. */
static void company_lands(struct store *store)
{
    struct company *company = &store->company;
    int64_t now_ns = loop_mono_ns(store->loop), took_ns = now_ns - company->launched_ns;
    int64_t part_ns = took_ns / COMPANY_PART;

    company->wanted = company->gathered + company->flying;
    company->until_ns = 0;
    if (took_ns >= COMPANY_FROM_NS && company->flying > 1)
        company->until_ns = now_ns + (part_ns < COMPANY_MAX_NS ? part_ns : COMPANY_MAX_NS);
}

/* How long the next batch still waits for them. */
static int64_t company_expected_ns(const struct store *store)
{
    const struct company *company = &store->company;

    if (store->urgent || !company->until_ns || company->gathered >= company->wanted)
        return 0;
    return company->until_ns - loop_mono_ns(store->loop);
}

/* ---- sending ---- */

static void launch(struct store *store)
{
    store->is_grounded = false;
    loop_hold(store->loop);
    if (store->committer)
        committer_send(store->committer, &store->flying);
    else
        loop_post(store->loop, &store->instant);
}

static void seal(struct store *store)
{
    struct batch spare = store->flying;

    bodies_sweep(&store->bodies, &store->gathering);
    if (store->revision + REVISIONS_RESERVED / 2 > store->revision_mark)
        store->gathering.revision_mark = store->revision + REVISIONS_RESERVED;
    store->flying = store->gathering;
    store->gathering = spare;
    store->gathering.number = ++store->batches;
    store->is_flying = true;
    store->hurried = store->urgent = store->awaited = false;
    company_leaves(store);
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

    if (store->is_flying || store->state == STORE_FAILED || nothing_gathered(store))
        return;
    if (!store->hurried && store->options.max_delay_ms > 0) {
        gather_more(store);
        return;
    }
    if (company_expected_ns(store) > 0) {
        if (!timer_armed(&store->delay))
            timer_start_ns(store->loop, &store->delay, company_expected_ns(store));
        return;
    }
    seal(store);
    launch(store);
}

static void delay_over(struct timer *timer)
{
    struct store *store = container_of(timer, struct store, delay);

    store->hurried = true;
}

/* ---- results ---- */

static void count_report(struct store *store, const struct committer_report *report)
{
    store->commits++;
    store->rows_written += report->counts.rows;
    store->bytes_bound += report->counts.bytes;
}

static void finish_flight(struct store *store)
{
    struct batch *batch = &store->flying;
    uint64_t from = store->durable;

    store->is_flying = false;
    company_lands(store);
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

/* The reserve goes first; from then on only deletes are taken (registry), until it is whole. */
static void wait_for_space(struct store *store, const struct error *err)
{
    bool reserve = store->place.reserved;

    if (store->state != STORE_FULL)
        log_error("disk full: only deletes are taken", kv_str("file", store->place.database),
                  kv_str("error", err->message));
    store->state = STORE_FULL;
    store->is_grounded = true;
    if (reserve)
        place_give_reserve(&store->place);
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

    if (store->is_grounded) {
        launch(store);
        return;
    }
    if (!place_take_reserve(&store->place)) {
        timer_start(store->loop, timer, RETRY_MS);
        return;
    }
    store->state = STORE_OPEN;
    log_warn("disk has room again", kv_str("file", store->place.database));
}

static void instant_over(struct task *task)
{
    const struct committer_report report = {.outcome = DB_OK};

    flight_over(container_of(task, struct store, instant), &report);
}

/* ---- waiting ---- */

void store_when_durable(struct store *store, struct task *task)
{
    if (store->state == STORE_FAILED)
        return; /* nothing becomes durable any more */
    if (!nothing_gathered(store))
        batch_add_task(&store->gathering, task);
    else if (store->is_flying)
        batch_add_task(&store->flying, task); /* the store thread does not look at tasks */
    else
        loop_post(store->loop, task);
}

void store_forget(struct store *store, struct task *task)
{
    batch_drop_task(&store->gathering, task);
    batch_drop_task(&store->flying, task);
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
    store->company.gathered++;
}

void store_on_failure(struct store *store, void (*failed)(void *ctx, const struct error *err),
                      void *ctx)
{
    store->failed = failed;
    store->failed_ctx = ctx;
}

/* ---- life ---- */

void store_commit_start(struct store *store)
{
    store->gathering.number = ++store->batches;
    store->turn_end.end = end_turn;
    store->delay.fire = delay_over;
    store->retry.fire = retry_full;
    store->instant.run = instant_over;
    loop_on_turn_end(store->loop, &store->turn_end);
    if (store->db)
        store->committer = committer_start(store->loop, store->db, flight_over, store);
}

/* Without the loop: wait for the batch on its way, then for one last try of what is left. */
static bool land(struct store *store)
{
    struct committer_report report = {.outcome = DB_OK};

    if (store->is_grounded)
        launch(store);
    loop_unhold(store->loop);
    if (store->committer)
        committer_wait(store->committer, &report);
    store->is_flying = false;
    if (report.outcome != DB_OK)
        log_error("store not written", kv_str("file", store->place.database),
                  kv_str("error", report.err.message));
    return report.outcome == DB_OK;
}

bool store_commit_stop(struct store *store)
{
    bool ok = store->state != STORE_FAILED;

    loop_off_turn_end(store->loop, &store->turn_end);
    timer_stop(store->loop, &store->delay);
    timer_stop(store->loop, &store->retry);
    if (ok && store->is_flying)
        ok = land(store);
    if (ok && !nothing_gathered(store)) {
        batch_clear(&store->flying);
        seal(store);
        launch(store);
        ok = land(store);
    }
    loop_cancel(store->loop, &store->instant);
    committer_stop(store->committer);
    batch_release(&store->gathering);
    batch_release(&store->flying);
    return ok;
}

/* ---- copies ---- */

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
