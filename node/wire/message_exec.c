/*
 * Messages about what is done beside a container's program. See message.h.
 */
#include "node/wire/message.h"

void shim_put_action(struct buf *out, const struct shim_action *action)
{
    wire_put_u8(out, (uint8_t)action->act);
    if (action->act == ACT_EXEC)
        shim_put_list(out, action->argv, action->n_argv);
    if (action->act == ACT_HTTP) {
        wire_put_text(out, action->path);
        wire_put_u32(out, action->port);
    }
    if (action->act == ACT_SLEEP)
        wire_put_i64(out, action->sleep_ms);
}

void shim_get_action(struct wire_reader *r, struct arena *arena, struct shim_action *out)
{
    uint8_t act = wire_u8(r);

    *out = (struct shim_action){.act = (enum shim_act)act};
    if (act == ACT_EXEC) {
        out->argv = shim_get_list(r, arena, &out->n_argv);
        r->bad = r->bad || !out->n_argv;
    }
    if (act == ACT_HTTP) {
        out->path = wire_must_text(r);
        out->port = wire_u32(r);
    }
    if (act == ACT_SLEEP)
        out->sleep_ms = wire_i64(r);
    if (act >= SHIM_ACT_N)
        r->bad = true;
}

void shim_put_exec(struct buf *out, const struct shim_exec *exec)
{
    size_t begun = wire_begin(out, SHIM_EXEC);

    wire_put_text(out, exec->uid);
    wire_put_u32(out, exec->container);
    wire_put_i64(out, (int64_t)exec->id);
    wire_put_i64(out, exec->limit_ms);
    shim_put_action(out, &exec->action);
    wire_end(out, begun);
}

bool shim_get_exec(struct wire_reader *r, struct arena *arena, struct shim_exec *out)
{
    out->uid = wire_must_text(r);
    out->container = wire_u32(r);
    out->id = (uint64_t)wire_i64(r);
    out->limit_ms = wire_i64(r);
    shim_get_action(r, arena, &out->action);
    return !r->bad && shim_uid_ok(out->uid);
}

void shim_put_executed(struct buf *out, const struct shim_executed *executed)
{
    size_t begun = wire_begin(out, SHIM_EXECUTED);

    wire_put_text(out, executed->uid);
    wire_put_i64(out, (int64_t)executed->id);
    wire_put_u32(out, (uint32_t)executed->code);
    wire_put_text(out, executed->text);
    wire_end(out, begun);
}

bool shim_get_executed(struct wire_reader *r, struct shim_executed *out)
{
    out->uid = wire_must_text(r);
    out->id = (uint64_t)wire_i64(r);
    out->code = (int32_t)wire_u32(r);
    out->text = wire_text(r);
    return !r->bad && shim_uid_ok(out->uid);
}

void shim_put_program(struct buf *out, const struct shim_program *program)
{
    size_t begun = wire_begin(out, SHIM_PROGRAM);

    wire_put_text(out, program->uid);
    wire_put_u32(out, program->container);
    shim_put_list(out, program->argv, program->n_argv);
    shim_put_list(out, program->env, program->n_env);
    wire_end(out, begun);
}

bool shim_get_program(struct wire_reader *r, struct arena *arena, struct shim_program *out)
{
    out->uid = wire_must_text(r);
    out->container = wire_u32(r);
    out->argv = shim_get_list(r, arena, &out->n_argv);
    out->env = shim_get_list(r, arena, &out->n_env);
    return !r->bad && out->n_argv && shim_uid_ok(out->uid);
}
