/*
 * Sends one request at a time. Each answer decides which request follows.
 */
#include "cli/controller/volcano_look.h"

#include <string.h>

#include "api/client/resource_path.h"
#include "api/types/text/json_text.h"
#include "base/mem.h"

#define LABEL "app=volcano-controller"
#define LEASE "vc-controller-manager"

enum { LOOK_ALL, LOOK_NAMESPACE, LOOK_LEASE };
enum { NS_PER_MS = 1000000, LIMIT_MS = 10000 };

static struct loop *loop_of(const struct volcano_look *look)
{
    return remote_loop(look->remote);
}

static void on_answer(struct remote_call *call);

static void ask(struct volcano_look *look, int step)
{
    look->step = step;
    buf_clear(&look->path);
    if (step == LOOK_LEASE)
        buf_printf(&look->path, "/apis/coordination.k8s.io/v1/namespaces/%s/leases/" LEASE,
                   look->ns);
    else if (step == LOOK_NAMESPACE)
        buf_printf(&look->path, "/apis/apps/v1/namespaces/%s/deployments", look->ns);
    else
        buf_str(&look->path, "/apis/apps/v1/deployments");
    if (step != LOOK_LEASE) {
        resource_write_query("labelSelector", LABEL, &look->path);
        resource_write_query("limit", "50", &look->path);
    }
    look->call.target = look->path.data;
    look->call.limit_ms = LIMIT_MS;
    look->call.done = on_answer;
    remote_start(look->remote, &look->call);
}

static void finish(struct volcano_look *look, const struct error *conflict)
{
    mem_free(take(look->record));
    look->done(look, conflict);
}

static void on_timer(struct timer *timer)
{
    ask(container_of(timer, struct volcano_look, timer), LOOK_LEASE);
}

/* A holder whose record changes is at work. */
static void judge_lease(struct volcano_look *look, const json_t *lease)
{
    const json_t *spec = json_object_get(lease, "spec");
    const char *holder = json_string_value(json_object_get(spec, "holderIdentity"));
    char *record = spec ? json_dumps(spec, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    int64_t now_ns = loop_mono_ns(loop_of(look));
    bool first = !look->record, same = !first && record && strcmp(record, look->record) == 0;
    struct error err = {0};

    if (!holder || !*holder ||
        (same && now_ns - look->since_ns >= (int64_t)LOOK_LEASE_MS * NS_PER_MS)) {
        finish(look, NULL);
    } else if (first || same) {
        if (first) {
            look->record = mem_strdup(record);
            look->since_ns = now_ns;
        }
        look->timer.fire = on_timer;
        timer_start(loop_of(look), &look->timer, LOOK_LEASE_EVERY_MS);
    } else {
        error_set(&err, ERR_CONFLICT, "",
                  "a vc-controller-manager is at work, and which controllers it runs cannot be "
                  "read (no deployment with label " LABEL " was found in %s): pass "
                  "--volcano-controllers=LIST as it has it",
                  look->ns);
        finish(look, &err);
    }
    free(record);
}

static void judge_deployments(struct volcano_look *look, const json_t *list)
{
    const json_t *items = json_object_get(list, "items"), *item;
    struct error err = {0};
    size_t i;

    json_array_foreach(items, i, item)
    {
        if (!volcano_allows(item, look->rivals, &err)) {
            finish(look, &err);
            return;
        }
    }
    if (json_array_size(items))
        finish(look, NULL);
    else
        ask(look, LOOK_LEASE);
}

static void on_answer(struct remote_call *call)
{
    struct volcano_look *look = container_of(call, struct volcano_look, call);
    struct error err = {0};
    scoped(json) json_t *doc = NULL;

    if (remote_ok(call, &err)) {
        doc = json_read(call->text.data ? call->text.data : "", call->text.len);
        if (look->step == LOOK_LEASE)
            judge_lease(look, doc);
        else
            judge_deployments(look, doc);
        return;
    }
    if (err.code != ERR_FORBIDDEN && err.code != ERR_NOT_FOUND) {
        err.code = ERR_UNAVAILABLE;
        finish(look, &err);
    } else if (look->step == LOOK_LEASE) {
        finish(look, NULL);
    } else {
        ask(look, look->step + 1);
    }
}

void volcano_look_start(struct volcano_look *look)
{
    ask(look, look->only_there ? LOOK_NAMESPACE : LOOK_ALL);
}

void volcano_look_stop(struct volcano_look *look)
{
    if (!look->remote)
        return;
    remote_call_release(&look->call);
    timer_stop(loop_of(look), &look->timer);
    buf_release(&look->path);
    mem_free(take(look->record));
}
