/*
 * Finds and replaces the references in values of a trigger's parameters, such as $(trigger.time).
 */
#include <string.h>

#include "api/types/kinds/schedule/flowtrigger.h"
#include "base/mem.h"

#define START "$(trigger."

/* clang-format off */
static const struct {
    const char *name;
    bool prefix; /* further parts follow */
} known[] = {
    {"name", false}, {"cause", false}, {"id", false}, {"time", false}, {"date", false}, {"unixTime", false},
    {"previousTime", false}, {"flow.name", false}, {"flow.phase", false}, {"flow.parameters.", true}, {"flow.steps.", true},
};
/* clang-format on */

static bool is_known(const char *name)
{
    const char *outputs = strstr(name, ".outputs.");

    for (size_t i = 0; i < countof(known); i++) {
        size_t len = strlen(known[i].name);

        if (known[i].prefix ? strncmp(name, known[i].name, len) == 0 && name[len]
                            : strcmp(name, known[i].name) == 0)
            return strncmp(name, "flow.steps.", 11) != 0 ||
                   (outputs && outputs > name + 11 && outputs[strlen(".outputs.")]);
    }
    return false;
}

/* Returns the name of the next reference (owned), and where its text begins and ends. Returns NULL
 * when there is none. */
static char *next_reference(const char *text, const char **out_begin, const char **out_end)
{
    const char *begin = strstr(text, START);
    const char *end = begin ? strchr(begin, ')') : NULL;

    if (!end)
        return NULL;
    *out_begin = begin;
    *out_end = end + 1;
    return mem_printf("%.*s", (int)(end - begin - (int)strlen(START)), begin + strlen(START));
}

bool trigger_value_check(const char *value, struct error *err)
{
    const char *begin, *end;

    for (const char *at = value;; at = end) {
        scoped_str name = next_reference(at, &begin, &end);

        if (!name)
            return true;
        if (!is_known(name))
            return error_set(err, ERR_INVALID, "",
                             "unknown reference $(trigger.%.64s): known are name, cause, id, time, "
                             "date, unixTime, previousTime, flow.name, flow.phase, "
                             "flow.parameters.NAME, flow.steps.STEP.outputs.KEY",
                             name);
    }
}

bool trigger_value_expand(const char *value,
                          bool (*get)(void *ctx, const char *name, struct buf *out), void *ctx,
                          struct buf *out)
{
    const char *begin, *end;

    for (;;) {
        scoped_str name = next_reference(value, &begin, &end);

        if (!name) {
            buf_str(out, value);
            return true;
        }
        buf_add(out, value, (size_t)(begin - value));
        if (!get(ctx, name, out))
            return false;
        value = end;
    }
}
