/*
 * The store thread and the hand-over of one batch at a time.
 *
 *   IDLE ──send──► SENT ──(thread commits)──► REPORTED ──(loop takes the report)──► IDLE
 */
#include "api/store/committer.h"
#include "base/mem.h"
#include <assert.h>
#include <pthread.h>
#include <signal.h>

enum state { IDLE, SENT, REPORTED, STOPPED };

struct committer {
    struct db *db;
    void (*done)(void *ctx, const struct committer_report *report);
    void *ctx;
    struct loop_mail *mail;
    struct task on_mail;
    pthread_t thread;

    pthread_mutex_t lock; /* of the members below */
    pthread_cond_t changed;
    enum state state;
    const struct batch *batch;
    struct committer_report report;
};

static void await(struct committer *committer, bool (*wanted)(enum state state))
{
    while (!wanted(committer->state))
        pthread_cond_wait(&committer->changed, &committer->lock);
}

static bool wants_work(enum state state)
{
    return state == SENT || state == STOPPED;
}

static bool wants_report(enum state state)
{
    return state == REPORTED;
}

static void become(struct committer *committer, enum state state)
{
    committer->state = state;
    pthread_cond_broadcast(&committer->changed);
}

/* The report goes out before the log is moved into the file: nobody has to wait for that. What it
 * finds wrong is reported with the next batch, which it then keeps from being written. */
static void *work(void *arg)
{
    struct committer *committer = arg;
    struct error broken = {0};

    pthread_mutex_lock(&committer->lock);
    for (;;) {
        const struct batch *batch;
        struct committer_report report = {0};

        await(committer, wants_work);
        if (committer->state == STOPPED)
            break;
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

        if (report.outcome == DB_OK)
            db_checkpoint(committer->db, &broken);
        pthread_mutex_lock(&committer->lock);
    }
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

static void on_mail(struct task *task)
{
    struct committer *committer = container_of(task, struct committer, on_mail);
    struct committer_report report;

    if (take_report(committer, &report))
        committer->done(committer->ctx, &report);
}

struct committer *committer_start(struct loop *loop, struct db *db,
                                  void (*done)(void *ctx, const struct committer_report *report),
                                  void *ctx)
{
    struct committer *committer = mem_alloc(sizeof *committer);
    sigset_t all, before;

    committer->db = db;
    committer->done = done;
    committer->ctx = ctx;
    committer->mail = loop_mail_new(loop, on_mail, &committer->on_mail);
    pthread_mutex_init(&committer->lock, NULL);
    pthread_cond_init(&committer->changed, NULL);

    sigfillset(&all); /* signals are for the loop */
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
        await(committer, wants_report);
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
    loop_mail_close(committer->mail);
    pthread_cond_destroy(&committer->changed);
    pthread_mutex_destroy(&committer->lock);
    mem_free(committer);
}
