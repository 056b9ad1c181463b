/*
 * The graph as a table with one row per step, sorted by layer, for flows that are too wide or too
 * large to draw.
 */
#include <string.h>

#include "base/mem.h"
#include "view/graph/graph_forms.h"
#include "view/table_print.h"

static char *targets_text(const struct flow_view *view, uint32_t i)
{
    scoped(buf) struct buf text = {0};
    size_t any = view->steps[i].any ? strlen("any of ") : 0;

    buf_str(&text, any ? "any of " : "");
    for (uint32_t t = view->targets.first[i]; t < view->targets.first[i + 1]; t++)
        buf_printf(&text, "%s%s", text.len > any ? ", " : "",
                   view->steps[view->targets.next[t]].name);
    return buf_take(&text);
}

void graph_table(const struct graph_form *form)
{
    static const char *const titles[] = {"LAYER", "STEP", "STATE", "AFTER"};
    const struct flow_view *view = form->view;
    scoped(table_print) struct table_print table = {0};
    uint32_t *by_layer = mem_array((size_t)view->n_steps + 1, sizeof *by_layer);
    uint32_t *next = mem_array((size_t)view->n_layers + 2, sizeof *next);

    table_print_init(&table, form->out, &(struct table_print_options){0});
    table_print_columns(&table, titles, countof(titles));
    for (uint32_t i = 0; i < view->n_steps; i++)
        next[view->steps[i].layer + 1]++;
    for (uint32_t k = 0; k < view->n_layers; k++)
        next[k + 1] += next[k];
    for (uint32_t i = 0; i < view->n_steps; i++)
        by_layer[next[view->steps[i].layer]++] = i;

    char **cells = mem_array((size_t)view->n_steps * countof(titles) + 1, sizeof *cells);

    for (uint32_t k = 0; k < view->n_steps; k++) {
        const struct flow_view_step *step = &view->steps[by_layer[k]];
        scoped(buf) struct buf state = {0};
        char **row = cells + (size_t)k * countof(titles);

        graph_state(step, form->now_ms, &state);
        row[0] = mem_printf("%u", step->layer + 1);
        row[1] = mem_printf("%s%s", flow_view_step_critical(step) ? "* " : "  ", step->name);
        row[2] = buf_take(&state);
        row[3] = targets_text(view, by_layer[k]);
    }
    table_print_rows(&table, cells, view->n_steps);
    for (size_t c = 0; c < (size_t)view->n_steps * countof(titles); c++)
        mem_free(cells[c]);
    mem_free(cells);
    mem_free(by_layer);
    mem_free(next);
}
