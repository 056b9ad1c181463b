/*
 * Keeps the members of a backfill, and writes and reads them.
 */
#include "schedule/backfill.h"

#include <string.h>

#include "base/mem.h"

void backfill_load(struct backfill *backfill, const struct trigger_backfill *from)
{
    *backfill = (struct backfill){.id = mem_strdup(from->id ? from->id : ""),
                                  .from_s = from->from_ms / 1000,
                                  .to_s = from->to_ms / 1000,
                                  .next_s = from->next_ms / 1000,
                                  .parallelism = from->parallelism,
                                  .rerun = from->rerun,
                                  .reverse = from->reverse,
                                  .state = from->state,
                                  .times = from->times,
                                  .made = from->made,
                                  .kept = from->kept,
                                  .failed = from->failed};
    for (size_t i = 0; i < from->running.count; i++)
        backfill_add_running(backfill, from->running.items[i]);
}

void backfill_clear(struct backfill *backfill)
{
    for (size_t i = 0; i < backfill->n_running; i++)
        mem_free(backfill->running[i]);
    mem_free(backfill->running);
    mem_free(backfill->id);
    *backfill = (struct backfill){0};
}

void backfills_free(struct backfill *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        backfill_clear(&items[i]);
    mem_free(items);
}

void backfill_add_running(struct backfill *backfill, const char *flow)
{
    for (size_t i = 0; i < backfill->n_running; i++)
        if (strcmp(backfill->running[i], flow) == 0)
            return;
    mem_grow(backfill->running, backfill->n_running, backfill->running_cap);
    backfill->running[backfill->n_running++] = mem_strdup(flow);
}

void backfill_drop_running(struct backfill *backfill, size_t i)
{
    mem_free(backfill->running[i]);
    backfill->n_running--;
    memmove(backfill->running + i, backfill->running + i + 1,
            (backfill->n_running - i) * sizeof *backfill->running);
}

static void write_one(struct jsonw *w, const struct backfill *backfill)
{
    jsonw_open(w);
    jsonw_member_str(w, "id", backfill->id);
    jsonw_member_time(w, "from", backfill->from_s * 1000);
    jsonw_member_time(w, "to", backfill->to_s * 1000);
    jsonw_member_time_opt(w, "next", backfill->next_s * 1000);
    jsonw_member_int(w, "parallelism", backfill->parallelism);
    jsonw_member_str(w, "rerun", backfill_rerun_texts[backfill->rerun]);
    jsonw_member_bool_opt(w, "reverse", backfill->reverse);
    jsonw_member_int(w, "times", backfill->times);
    jsonw_member_int_opt(w, "made", backfill->made);
    jsonw_member_int_opt(w, "kept", backfill->kept);
    jsonw_member_int_opt(w, "failed", backfill->failed);
    jsonw_member_str(w, "state", backfill_state_texts[backfill->state]);
    if (backfill->n_running) {
        jsonw_member_open_list(w, "running");
        for (size_t i = 0; i < backfill->n_running; i++)
            jsonw_str(w, backfill->running[i]);
        jsonw_close_list(w);
    }
    jsonw_close(w);
}

void backfills_write(struct jsonw *w, const struct backfill *items, size_t n)
{
    if (!n)
        return;
    jsonw_member_open_list(w, "backfills");
    for (size_t i = 0; i < n; i++)
        write_one(w, &items[i]);
    jsonw_close_list(w);
}
