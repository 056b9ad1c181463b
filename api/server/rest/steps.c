/*
 * GET …/jobflows/NAME/steps: the steps of a flow one by one, in pages. A page shows the state at the
 * time of its request.
 */
#include <string.h>

#include "api/server/message/continue_token.h"
#include "api/server/rest/internal.h"
#include "api/server/rest/table/table.h"
#include "api/types/kinds/jobflow/step_list.h"
#include "base/mem.h"

enum { PAGE_MAX = 5000, PAGE_DEFAULT = 500 };

struct steps {
    const struct api_call *call;
    const struct object *flow;
    struct step_list *list;
};

static const struct object *find_job(void *ctx, const char *name)
{
    const struct steps *s = ctx;

    return store_get(s->call->api->store, &kind_job, object_namespace(s->flow), name);
}

/* Comes after the entries, because the continue token depends on them. */
static void write_metadata(const struct steps *s, uint32_t next, struct jsonw *w)
{
    scoped(buf) struct buf after = {0}, token = {0}, revision = {0};

    buf_printf(&revision, "%lld", (long long)s->flow->revision);
    jsonw_member_open(w, "metadata");
    jsonw_member_str(w, "resourceVersion", revision.data);
    if (next) {
        buf_printf(&after, "%s/%u", object_uid(s->flow), next);
        continue_token_write(&(struct continue_token){s->flow->revision, after.data, next}, &token);
        jsonw_member_str(w, "continue", token.data);
        jsonw_member_int(w, "remainingItemCount", step_list_count(s->list) - next);
    }
    jsonw_close(w);
}

static void write_list(struct steps *s, uint32_t from, int64_t limit, struct buf *out)
{
    struct jsonw w = jsonw_to(out);

    jsonw_open(&w);
    write_metadata(s, step_list_write(s->list, from, limit, &w), &w);
    jsonw_close(&w);
    buf_char(out, '\n');
}

/* Reads the position at which the page starts. GONE for the token of an earlier flow of this name. */
static bool take_token(const struct api_call *call, const struct object *flow, uint32_t *out,
                       struct error *err)
{
    const char *text = request_query(&call->target, "continue");
    size_t uid_len = strlen(object_uid(flow));
    scoped(buf) struct buf scratch = {0};
    struct continue_token token;
    char *end;
    unsigned long vertex;

    *out = 0;
    if (!text || !*text)
        return true;
    if (!continue_token_read(text, &scratch, &token, err))
        return false;
    if (strncmp(token.after, object_uid(flow), uid_len) != 0 || token.after[uid_len] != '/')
        return error_set(
            err, ERR_GONE, "",
            "The continue parameter belongs to another flow of this name: list its steps "
            "from the start");
    vertex = strtoul(token.after + uid_len + 1, &end, 10);
    if (*end || vertex >= UINT32_MAX)
        return error_set(err, ERR_BAD_REQUEST, "continue", "continue key is not valid");
    *out = (uint32_t)vertex;
    return true;
}

struct api_stream *verb_steps(const struct api_call *call)
{
    struct reply reply = {.status = 200};
    struct error err = {0};
    const struct object *flow = find_object(call, &err);
    struct steps steps = {.call = call, .flow = flow};
    const struct step_list_options options = {.find_job = find_job,
                                              .ctx = &steps,
                                              .now_ms = loop_wall_ms(call->api->loop),
                                              .as_table = call->media.form == MEDIA_TABLE};
    int64_t limit;
    uint32_t from;

    if (!flow)
        return reply_error(call, &err);
    if (!request_query_int(&call->target, "limit", 0, &limit, &err) ||
        !take_token(call, flow, &from, &err))
        return reply_option_error(call, "ListOptions", &err);
    if (limit == 0)
        limit = PAGE_DEFAULT;
    steps.list = step_list_new(flow, &options);
    write_list(&steps, from, limit < PAGE_MAX ? limit : PAGE_MAX, &reply.body);
    step_list_free(steps.list);
    return reply_send(call, &reply, STREAM_DURABLE);
}
