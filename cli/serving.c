/*
 * API, listener, and pod logs from the node's runtime.
 */
#include "cli/serving.h"
#include "api/server/listener.h"
#include "base/mem.h"

struct serving {
    struct api *api;
    struct listener *listener;
};

static bool read_log(void *ctx, const struct object *pod, const struct api_log_query *query,
                     int64_t *offset, struct buf *out, struct error *err)
{
    struct runtime *runtime = ctx;
    const struct runtime_log_options options = {
        .container = query->container,
        .previous = query->previous,
        .timestamps = query->timestamps,
        .tail_lines = query->tail_lines,
        .since_ms = query->since_ms,
        .limit_bytes = query->limit_bytes,
    };

    return runtime->ops->read_log(runtime, object_uid(pod), &options, offset, out, err);
}

struct serving *serving_start(struct engine *engine, const char *data_dir, struct error *err)
{
    const struct api_logs logs = {read_log, engine_runtime(engine)};
    scoped_str path = mem_printf("%s/" SERVING_SOCKET, data_dir);
    struct serving *serving = mem_alloc(sizeof *serving);

    serving->api = api_new(engine_loop(engine), engine_registry(engine), &logs);
    serving->listener = listener_start(engine_loop(engine), serving->api, path, err);
    if (serving->listener)
        return serving;
    serving_stop(serving);
    return NULL;
}

void serving_stop(struct serving *serving)
{
    if (!serving)
        return;
    api_free(serving->api);
    listener_stop(serving->listener);
    mem_free(serving);
}
