/*
 * Messages about what is done beside a container's program. See message.h.
 */
#include "node/wire/message.h"

void shim_put_action(struct buf *out, const struct shim_action *action)
{
    frame_put_u8(out, (uint8_t)action->act);
    if (action->act == ACT_EXEC)
        shim_put_list(out, action->argv, action->n_argv);
    if (action->act == ACT_HTTP) {
        frame_put_text(out, action->path);
        frame_put_u32(out, action->port);
    }
    if (action->act == ACT_SLEEP)
        frame_put_i64(out, action->sleep_ms);
}

void shim_get_action(struct frame_reader *r, struct arena *arena, struct shim_action *out)
{
    uint8_t act = frame_get_u8(r);

    *out = (struct shim_action){.act = (enum shim_act)act};
    if (act == ACT_EXEC) {
        out->argv = shim_get_list(r, arena, &out->n_argv);
        r->bad = r->bad || !out->n_argv;
    }
    if (act == ACT_HTTP) {
        out->path = frame_get_required_text(r);
        out->port = frame_get_u32(r);
    }
    if (act == ACT_SLEEP)
        out->sleep_ms = frame_get_i64(r);
    if (act >= SHIM_ACT_N)
        r->bad = true;
}

void shim_put_exec(struct buf *out, const struct shim_exec *exec)
{
    size_t begun = frame_begin(out, SHIM_EXEC);

    frame_put_text(out, exec->uid);
    frame_put_u32(out, exec->container);
    frame_put_i64(out, (int64_t)exec->id);
    frame_put_i64(out, exec->limit_ms);
    shim_put_action(out, &exec->action);
    frame_end(out, begun);
}

bool shim_get_exec(struct frame_reader *r, struct arena *arena, struct shim_exec *out)
{
    out->uid = frame_get_required_text(r);
    out->container = frame_get_u32(r);
    out->id = (uint64_t)frame_get_i64(r);
    out->limit_ms = frame_get_i64(r);
    shim_get_action(r, arena, &out->action);
    return !r->bad && shim_uid_ok(out->uid);
}

void shim_put_executed(struct buf *out, const struct shim_executed *executed)
{
    size_t begun = frame_begin(out, SHIM_EXECUTED);

    frame_put_text(out, executed->uid);
    frame_put_i64(out, (int64_t)executed->id);
    frame_put_u32(out, (uint32_t)executed->code);
    frame_put_text(out, executed->text);
    frame_end(out, begun);
}

bool shim_get_executed(struct frame_reader *r, struct shim_executed *out)
{
    out->uid = frame_get_required_text(r);
    out->id = (uint64_t)frame_get_i64(r);
    out->code = (int32_t)frame_get_u32(r);
    out->text = frame_get_text(r);
    return !r->bad && shim_uid_ok(out->uid);
}

void shim_put_program(struct buf *out, const struct shim_program *program)
{
    size_t begun = frame_begin(out, SHIM_PROGRAM);

    frame_put_text(out, program->uid);
    frame_put_u32(out, program->container);
    shim_put_list(out, program->argv, program->n_argv);
    shim_put_list(out, program->env, program->n_env);
    frame_end(out, begun);
}

bool shim_get_program(struct frame_reader *r, struct arena *arena, struct shim_program *out)
{
    out->uid = frame_get_required_text(r);
    out->container = frame_get_u32(r);
    out->argv = shim_get_list(r, arena, &out->n_argv);
    out->env = shim_get_list(r, arena, &out->n_env);
    return !r->bad && out->n_argv && shim_uid_ok(out->uid);
}
