/*
 * Between the loop and other threads: work on libuv's pool, and mail that wakes the loop.
 */
#include "base/loop/loop.h"
#include "base/mem.h"

static void on_worker(uv_work_t *req)
{
    struct pool_work *work = container_of(req, struct pool_work, req);

    work->run(work);
}

static void on_worker_done(uv_work_t *req, int status)
{
    struct pool_work *work = container_of(req, struct pool_work, req);

    loop_unhold(work->loop);
    work->done(work);
}

void loop_work(struct loop *loop, struct pool_work *work)
{
    work->loop = loop;
    loop_hold(loop);
    if (uv_queue_work(loop_uv(loop), &work->req, on_worker, on_worker_done))
        mem_fatal("the thread pool refused work");
}

struct loop_mail {
    uv_async_t async;
    struct loop *loop;
    struct task *task;
};

static void on_async(uv_async_t *async)
{
    struct loop_mail *mail = container_of(async, struct loop_mail, async);

    loop_post(mail->loop, mail->task);
}

static void on_mail_closed(uv_handle_t *handle)
{
    mem_free(container_of((uv_async_t *)handle, struct loop_mail, async));
}

struct loop_mail *loop_mail_new(struct loop *loop, task_fn on_mail, struct task *task)
{
    struct loop_mail *mail = mem_alloc(sizeof *mail);

    mail->loop = loop;
    mail->task = task;
    task->run = on_mail;
    if (uv_async_init(loop_uv(loop), &mail->async, on_async))
        mem_fatal("no descriptor for waking the loop");
    return mail;
}

void loop_mail_send(struct loop_mail *mail)
{
    uv_async_send(&mail->async);
}

void loop_mail_close(struct loop_mail *mail)
{
    if (!mail)
        return;
    loop_cancel(mail->loop, mail->task);
    uv_close((uv_handle_t *)&mail->async, on_mail_closed);
}
