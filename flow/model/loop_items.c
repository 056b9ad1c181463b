/*
 * Reads the items of a loop from the text of an output.
 */
#include "flow/model/loop_items.h"

#include <string.h>

#include "api/types/text/json_text.h"
#include "base/mem.h"
#include "flow/model/condition.h"
#include "flow/model/control.h"

void loop_items_free(struct loop_items *items)
{
    if (!items)
        return;
    for (uint32_t i = 0; i < items->count; i++)
        mem_free(items->items[i]);
    mem_free(items->items);
    mem_free(items->message);
    mem_free(items);
}

static void fail(struct loop_items *items, const char *reason, char *message)
{
    items->reason = reason;
    items->message = message;
}

static void add(struct loop_items *items, char *text, uint32_t most)
{
    if (items->count < most)
        items->items[items->count++] = text;
    else
        mem_free(text);
}

static char *text_of(const json_t *element)
{
    scoped(buf) struct buf text = {0};

    if (json_is_string(element))
        return mem_strdup(json_string_value(element));
    json_text(element, &text);
    return buf_take(&text);
}

/* Takes at most `most` elements of the list; returns how many there are. */
static size_t take_list(struct loop_items *items, const json_t *list, uint32_t most)
{
    const json_t *element;
    size_t i;

    json_array_foreach(list, i, element) add(items, text_of(element), most);
    return i;
}

/* Takes words between commas, without the spaces around them, as the function above takes the
 * elements of a list. */
static size_t take_words(struct loop_items *items, const char *text, uint32_t most)
{
    size_t found = 0;

    if (!text[strspn(text, " ")])
        return 0;
    for (const char *at = text, *end;; at = end + 1, found++) {
        size_t len;

        at += strspn(at, " ");
        end = at + strcspn(at, ",");
        for (len = (size_t)(end - at); len > 0 && at[len - 1] == ' ';)
            len--;
        add(items, mem_printf("%.*s", (int)len, at), most);
        if (!*end)
            return found + 1;
    }
}

static void read_items(struct loop_items *items, const struct flow_items_from *from,
                       const char *value, uint32_t most)
{
    struct error why = {0};
    json_t *list = *value == '[' ? json_parse(value, strlen(value), &json_limits_body, &why) : NULL;
    size_t found;

    if (*value == '[' && !list) {
        fail(items, "InvalidItems",
             mem_printf("output %s of step %s is no JSON list: %s", from->key, from->target,
                        why.message));
        return;
    }
    items->items = mem_array((size_t)most + 1, sizeof *items->items);
    found = list ? take_list(items, list, most) : take_words(items, value, most);
    json_decref(list);
    if (found > most)
        fail(items, "TooManyItems",
             mem_printf("output %s of step %s has %zu items, and for.maxIterations allows %u",
                        from->key, from->target, found, most));
}

static struct loop_items *items_new(const struct flow_model *m, uint32_t loop)
{
    const struct flow_items_from *from = flow_graph_step(m->graph, loop)->loop->items_from;
    uint32_t target = flow_graph_find(m->graph, from->target);
    struct loop_items *items = mem_alloc(sizeof *items);
    const char *value = NULL;

    if (target != STEP_NONE && m->steps[target].state == STEP_SKIPPED)
        return items;
    if (target != STEP_NONE)
        value = job_results_output(flow_results_of(m, target), from->key);
    if (value)
        read_items(items, from, value, flow_graph_iterations(m->graph, loop));
    else
        fail(items, "MissingOutput",
             mem_printf("step %s has no output %s: its pods write a line %s=ITEM,ITEM to their "
                        "termination message",
                        from->target, from->key, from->key));
    return items;
}

const struct loop_items *loop_items_of(const struct flow_model *m, uint32_t loop)
{
    struct step_control *ctl = &m->control->steps[loop];

    if (!ctl->items && m->steps[loop].state == STEP_STARTED)
        ctl->items = items_new(m, loop);
    return ctl->items;
}
