/*
 * Makes one job for each Command and then deletes the Command. The name of the job holds a hash of
 * the uid of the Command, so the job is found by its name after a crash in between.
 */
#include "schedule/manual.h"

#include <string.h>

#include "api/types/kinds/command.h"
#include "api/types/kinds/schedule/cronjob.h"
#include "base/mem.h"
#include "schedule/internal.h"
#include "schedule/jobs.h"

enum { RETRY_MS = 1000 };

struct manual_jobs {
    struct cluster *cluster;
    struct cluster_watcher commands;
    unsigned orders;
    bool stopped;
};

/* One Command that is being carried out. */
struct order {
    struct cluster_call call;
    struct timer again; /* the deletion of the Command is repeated until it succeeds */
    struct manual_jobs *manual;
    struct object *command, *cronjob;
    char *job;
};

static void free_manual(struct manual_jobs *manual)
{
    if (manual->stopped && !manual->orders)
        mem_free(manual);
}

static void end(struct order *order)
{
    struct manual_jobs *manual = order->manual;

    manual->orders--;
    object_unref(order->command);
    object_unref(order->cronjob);
    mem_free(order->job);
    mem_free(order);
    free_manual(manual);
}

static void remove_command(struct order *order);

static void on_again(struct timer *timer)
{
    remove_command(container_of(timer, struct order, again));
}

static void on_removed(struct cluster_call *call, const struct object *none,
                       const struct error *err)
{
    struct order *order = container_of(call, struct order, call);

    if (err && err->code != ERR_NOT_FOUND && !order->manual->stopped)
        timer_start(order->manual->cluster->loop, &order->again, RETRY_MS);
    else
        end(order);
}

static void remove_command(struct order *order)
{
    const struct cluster_removal how = {
        .uid = object_uid(order->command), .grace_s = -1, .propagation = PROPAGATE_BACKGROUND};

    if (order->manual->stopped) { /* the next process finds the Command again */
        end(order);
        return;
    }
    order->call.done = on_removed;
    cluster_remove(order->manual->cluster, &order->call, &kind_command,
                   object_namespace(order->command), object_name(order->command), &how);
}

/* A job of that name that is older than the Command was made for another one. */
static bool made_for_it(const struct order *order)
{
    const struct object *job = cluster_get(order->manual->cluster, &kind_job,
                                           object_namespace(order->cronjob), order->job);

    return job && owned_by(order->cronjob, job) &&
           meta_created_ms(job->meta) >= order->command->meta->created_at_ms;
}

static void on_created(struct cluster_call *call, const struct object *result,
                       const struct error *err)
{
    struct order *order = container_of(call, struct order, call);
    struct cluster *cluster = order->manual->cluster;

    if (!err)
        cluster_event(cluster, order->cronjob, EVENT_NORMAL, "SuccessfulCreate", CRON_COMPONENT,
                      "Created job %s by hand", order->job);
    else if (err->code != ERR_EXISTS || !made_for_it(order))
        cluster_event(cluster, order->cronjob, EVENT_WARNING, "FailedCreate", CRON_COMPONENT,
                      "Error creating job %s: %s%s%s", order->job, err->field,
                      *err->field ? ": " : "", err->message);
    remove_command(order);
}

static struct order *order_new(struct manual_jobs *manual, const struct object *command)
{
    struct order *order = mem_alloc(sizeof *order);

    manual->orders++;
    order->manual = manual;
    order->command = object_ref(command);
    order->again.fire = on_again;
    return order;
}

static void make_job(struct order *order)
{
    order->job = cronjob_name_by_hand(object_name(order->cronjob), object_uid(order->command));
    order->call.done = on_created;
    cluster_create(order->manual->cluster, &order->call,
                   cronjob_job(order->cronjob, order->job, ANNOTATION_CRONJOB_MANUAL, "manual"));
}

static void command_changed(struct cluster_watcher *watcher, enum cluster_change change,
                            const struct object *old, const struct object *object)
{
    struct manual_jobs *manual = container_of(watcher, struct manual_jobs, commands);
    const struct command *asked = command_of(object);
    const struct object *cronjob;
    struct order *order;

    if (change != CHANGE_ADDED || object_deleting(object) || !asked->target.kind ||
        strcmp(asked->target.kind, kind_cron_job.name) != 0 || !asked->target.name)
        return;
    cronjob =
        cluster_get(manual->cluster, &kind_cron_job, object_namespace(object), asked->target.name);
    order = order_new(manual, object);
    if (cronjob && !object_deleting(cronjob) &&
        (!asked->target.uid || !*asked->target.uid ||
         strcmp(asked->target.uid, object_uid(cronjob)) == 0)) {
        order->cronjob = object_ref(cronjob);
        make_job(order);
        return;
    }
    cluster_event(manual->cluster, object, EVENT_WARNING, "CommandRejected", CRON_COMPONENT,
                  "%s of cronjob %s is refused: there is no such CronJob", asked->action,
                  asked->target.name);
    remove_command(order);
}

struct manual_jobs *manual_jobs_start(struct cluster *cluster)
{
    struct manual_jobs *manual = mem_alloc(sizeof *manual);

    manual->cluster = cluster;
    manual->commands = (struct cluster_watcher){command_changed, &kind_command};
    cluster_watch(cluster, &manual->commands);
    return manual;
}

void manual_jobs_stop(struct manual_jobs *manual)
{
    if (!manual)
        return;
    cluster_unwatch(manual->cluster, &manual->commands);
    manual->stopped = true;
    free_manual(manual);
}
