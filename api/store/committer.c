/*
 * The store thread, and the hand-over of one batch at a time between it and the loop.
 *
 *   IDLE ──send──► SENT ──(thread commits)──► REPORTED ──(loop takes the report)──► IDLE
 */
#include "api/store/committer.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "api/store/db/copy.h"
#include "base/mem.h"

/* Idle times of the thread. After QUIET_MS it syncs the mark and checkpoints a long write-ahead
 * log; after REST_MS it frees caches. */
enum { QUIET_MS = 50, REST_MS = 3000 };

enum state { IDLE, SENT, REPORTED, STOPPED };
enum copy_state { NO_COPY, COPYING, COPY_CANCELLED, COPY_OVER };

struct committer {
    struct loop *loop;
    struct db *db;
    void (*done)(void *ctx, const struct committer_report *report);
    void *ctx;
    struct loop_mail *mail;
    struct task on_mail;
    pthread_t thread;

    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    enum state state;
    const struct batch *batch;
    struct committer_report report;
    enum copy_state copying;
    char *copy_path; /* set by the loop; the thread reads it while COPYING */
    struct error copy_err;

    void (*copied)(void *ctx, const struct error *err); /* called on the loop */
    void *copied_ctx;
};

static void await(struct committer *committer, bool (*wanted)(const struct committer *committer))
{
    while (!wanted(committer))
        pthread_cond_wait(&committer->changed, &committer->lock);
}

static bool has_work(const struct committer *committer)
{
    return committer->state == SENT || committer->state == STOPPED ||
           committer->copying == COPYING || committer->copying == COPY_CANCELLED;
}

static bool has_report(const struct committer *committer)
{
    return committer->state == REPORTED;
}

static void become(struct committer *committer, enum state state)
{
    committer->state = state;
    pthread_cond_broadcast(&committer->changed);
}

/* Runs one step of the copy. The lock is held except during the step, so a batch that arrives waits
 * for one step at most. */
static void copy_on(struct committer *committer, struct db_copy **copy)
{
    enum db_copy_state state = DB_COPY_FAILED;
    struct error err = {0};

    if (committer->copying == COPYING) {
        pthread_mutex_unlock(&committer->lock);
        if (!*copy)
            *copy = db_copy_start(committer->db, committer->copy_path, &err);
        if (*copy)
            state = db_copy_step(*copy, &err);
        pthread_mutex_lock(&committer->lock);
    }
    if (state == DB_COPY_MORE && committer->copying == COPYING)
        return;
    db_copy_end(*copy);
    *copy = NULL;
    committer->copy_err = err;
    committer->copying = COPY_OVER;
    loop_mail_send(committer->mail);
}

/* Waits up to `ms` for work with the lock held. True when there is some. */
static bool work_comes(struct committer *committer, int64_t ms)
{
    const int64_t ns = 1000000000;
    int64_t until_ns = clock_mono_ns(clock_real()) + ms * (ns / 1000);
    const struct timespec until = {until_ns / ns, until_ns % ns};

    while (!has_work(committer))
        if (pthread_cond_clockwait(&committer->changed, &committer->lock, CLOCK_MONOTONIC,
                                   &until) == ETIMEDOUT)
            return has_work(committer);
    return true;
}

/* Waits for work. While idle, it syncs the mark, checkpoints the log and frees caches, each once
 * after a batch. */
static void await_work(struct committer *committer, bool *rested, struct error *broken)
{
    bool is_long = db_log_is_long(committer->db);

    if (!*rested && (is_long || db_mark_is_unsynced(committer->db)) &&
        !work_comes(committer, QUIET_MS)) {
        pthread_mutex_unlock(&committer->lock);
        if (!is_long || db_checkpoint(committer->db, broken))
            db_mark_sync(committer->db, broken);
        pthread_mutex_lock(&committer->lock);
    }
    if (!*rested && !work_comes(committer, REST_MS)) {
        pthread_mutex_unlock(&committer->lock);
        db_rest(committer->db);
        pthread_mutex_lock(&committer->lock);
        *rested = true;
    }
    await(committer, has_work);
}

/* The body of the thread. It checkpoints the log and syncs the mark while idle. Under a load
 * without pauses it does so between two batches, after the report of the first; an error is then
 * reported with the next batch, which is not written. */
static void *work(void *arg)
{
    struct committer *committer = arg;
    struct db_copy *copy = NULL;
    struct error broken = {0};
    bool rested = false;

    pthread_mutex_lock(&committer->lock);
    for (;;) {
        const struct batch *batch;
        struct committer_report report = {0};

        await_work(committer, &rested, &broken);
        rested = false;
        if (committer->state == STOPPED)
            break;
        if (committer->state != SENT) {
            copy_on(committer, &copy);
            continue;
        }
        batch = committer->batch;
        pthread_mutex_unlock(&committer->lock);

        if (broken.code) {
            report.outcome = DB_FAILED;
            report.err = broken;
        } else {
            report.outcome = db_commit(committer->db, batch, &report.counts, &report.err);
        }

        pthread_mutex_lock(&committer->lock);
        committer->report = report;
        become(committer, REPORTED);
        pthread_mutex_unlock(&committer->lock);
        loop_mail_send(committer->mail);

        if (report.outcome == DB_OK && db_log_is_full(committer->db))
            db_checkpoint(committer->db, &broken);
        if (report.outcome == DB_OK && db_mark_is_due(committer->db))
            db_mark_sync(committer->db, &broken);
        pthread_mutex_lock(&committer->lock);
    }
    db_copy_end(copy);
    pthread_mutex_unlock(&committer->lock);
    return NULL;
}

static bool take_report(struct committer *committer, struct committer_report *out)
{
    bool taken;

    pthread_mutex_lock(&committer->lock);
    taken = committer->state == REPORTED;
    if (taken) {
        *out = committer->report;
        committer->state = IDLE;
        committer->batch = NULL;
    }
    pthread_mutex_unlock(&committer->lock);
    return taken;
}

/* Takes the result of a finished copy. False while the copy is under way or there is none. */
static bool take_copied(struct committer *committer, struct error *out)
{
    bool over;

    pthread_mutex_lock(&committer->lock);
    over = committer->copying == COPY_OVER;
    if (over) {
        *out = committer->copy_err;
        committer->copying = NO_COPY;
        mem_free(take(committer->copy_path));
    }
    pthread_mutex_unlock(&committer->lock);
    return over;
}

static void on_mail(struct task *task)
{
    struct committer *committer = container_of(task, struct committer, on_mail);
    struct committer_report report;
    struct error err;

    if (take_report(committer, &report))
        committer->done(committer->ctx, &report);
    if (!take_copied(committer, &err))
        return;
    loop_unhold(committer->loop);
    if (committer->copied)
        take(committer->copied)(committer->copied_ctx, err.code ? &err : NULL);
}

bool committer_copy(struct committer *committer, const char *path,
                    void (*done)(void *ctx, const struct error *err), void *ctx, struct error *err)
{
    bool free_;

    pthread_mutex_lock(&committer->lock);
    free_ = committer->copying == NO_COPY;
    if (free_) {
        committer->copy_path = mem_strdup(path);
        committer->copied = done;
        committer->copied_ctx = ctx;
        committer->copying = COPYING;
        pthread_cond_broadcast(&committer->changed);
        loop_hold(committer->loop);
    }
    pthread_mutex_unlock(&committer->lock);
    return free_ || error_set(err, ERR_CONFLICT, "", "another backup is under way");
}

void committer_copy_cancel(struct committer *committer)
{
    pthread_mutex_lock(&committer->lock);
    if (committer->copying == COPYING)
        committer->copying = COPY_CANCELLED;
    committer->copied = NULL;
    pthread_mutex_unlock(&committer->lock);
}

struct committer *committer_start(struct loop *loop, struct db *db,
                                  void (*done)(void *ctx, const struct committer_report *report),
                                  void *ctx)
{
    struct committer *committer = mem_alloc(sizeof *committer);
    sigset_t all, before;

    committer->loop = loop;
    committer->db = db;
    committer->done = done;
    committer->ctx = ctx;
    committer->mail = loop_mail_new(loop, on_mail, &committer->on_mail);
    pthread_mutex_init(&committer->lock, NULL);
    pthread_cond_init(&committer->changed, NULL);

    sigfillset(&all); /* the loop handles signals */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&committer->thread, NULL, work, committer))
        mem_fatal("the store thread cannot be started");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return committer;
}

void committer_send(struct committer *committer, const struct batch *batch)
{
    pthread_mutex_lock(&committer->lock);
    assert(committer->state == IDLE);
    committer->batch = batch;
    become(committer, SENT);
    pthread_mutex_unlock(&committer->lock);
}

bool committer_wait(struct committer *committer, struct committer_report *out)
{
    pthread_mutex_lock(&committer->lock);
    if (committer->state == SENT)
        await(committer, has_report);
    pthread_mutex_unlock(&committer->lock);
    return take_report(committer, out);
}

void committer_stop(struct committer *committer)
{
    if (!committer)
        return;
    pthread_mutex_lock(&committer->lock);
    assert(committer->state == IDLE);
    become(committer, STOPPED);
    pthread_mutex_unlock(&committer->lock);
    pthread_join(committer->thread, NULL);
    if (committer->copying != NO_COPY)
        loop_unhold(committer->loop);
    mem_free(committer->copy_path);
    loop_mail_close(committer->mail);
    pthread_cond_destroy(&committer->changed);
    pthread_mutex_destroy(&committer->lock);
    mem_free(committer);
}
