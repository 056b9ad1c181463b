/*
 * Sets up the API, its listener, and access to pod logs of the node's runtime.
 */
#include "cli/engine/serving.h"

#include "base/mem.h"
#include "cli/engine/convert.h"

struct serving {
    struct api *api;
    struct listener *listener;
};

static bool read_log(void *ctx, const char *uid, const struct log_query *query, int64_t *offset,
                     struct buf *out, struct error *err)
{
    struct runtime *runtime = ctx;

    return runtime->ops->read_log(runtime, uid, query, offset, out, err);
}

static json_t *template_of(const json_t *job)
{
    return convert_to_template(job, NULL);
}

const struct api_conversions serving_conversions = {template_of, convert_stored_to_job};

struct serving *serving_new(struct engine *engine, const struct listener_options *options)
{
    const struct api_logs logs = {read_log, engine_runtime(engine)};
    struct serving *serving = mem_alloc(sizeof *serving);

    serving->api = api_new(engine_loop(engine), engine_registry(engine), &logs);
    api_set_conversions(serving->api, &serving_conversions);
    api_enable_backups(serving->api, engine_data_dir(engine));
    serving->listener = listener_new(engine_loop(engine), serving->api, options);
    return serving;
}

struct api *serving_api(struct serving *serving)
{
    return serving->api;
}

struct listener *serving_listener(struct serving *serving)
{
    return serving->listener;
}

struct serving *serving_start(struct engine *engine, const char *data_dir, struct error *err)
{
    scoped_str path = mem_printf("%s/" SERVING_SOCKET, data_dir);
    struct serving *serving = serving_new(engine, NULL);

    if (listener_add_unix(serving->listener, path, 0600, err))
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
