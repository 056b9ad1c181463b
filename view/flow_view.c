/*
 * Questions that can be asked of a view once it is made, and its end. Making one is in
 * load.c.
 */
#include "view/flow_view.h"

#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/text/doc.h"
#include "base/mem.h"

uint32_t flowview_find(const struct flowview *view, const char *name)
{
    return name ? name_index_get(&view->names, name) : UINT32_MAX;
}

bool flowview_is_over(const struct flowview *view)
{
    return view->phase &&
           (strcmp(view->phase, "Succeed") == 0 || strcmp(view->phase, "Failed") == 0);
}

/* What it has read is kept. */
const json_t *flowview_step_spec(const struct flowview_step *step)
{
    struct flowview_step *own = (struct flowview_step *)(size_t)step;

    if (!own->spec && own->text)
        own->spec = json_loadb(own->text, own->text_len, 0, NULL);
    return own->spec;
}

void flowview_free(struct flowview *view)
{
    if (!view)
        return;
    for (uint32_t i = 0; i < view->n_steps; i++)
        json_decref(view->steps[i].spec);
    json_decref(view->doc);
    mem_free(view->steps);
    mem_free(view->order);
    mem_free(view->path);
    dag_release(&view->dag);
    dag_release(&view->targets);
    name_index_release(&view->names);
    buf_release(&view->text);
    arena_free(view->words);
    mem_free(view);
}

/* ---- words ---- */

int64_t flowview_step_ms(const struct flowview_step *step, int64_t now_ms)
{
    if (!step->began_ms)
        return -1;
    return (step->ended_ms ? step->ended_ms : now_ms) - step->began_ms;
}

uint32_t flowview_step_iterations(const struct flowview_step *step)
{
    const json_t *loop = json_object_get(flowview_step_spec(step), "for");
    const json_t *range = json_object_get(loop, "range"), *by = json_object_get(range, "step");
    struct flow_range as_read = {
        .start = json_integer_value(json_object_get(range, "start")),
        .end = json_integer_value(json_object_get(range, "end")),
        .step = {.set = by != NULL, .value = json_integer_value(by)},
    };

    if (range)
        return flow_loop_iterations(&(struct flow_loop){.range = &as_read});
    if (json_object_get(loop, "until") || json_object_get(loop, "itemsFrom"))
        return (uint32_t)json_integer_value(json_object_get(loop, "maxIterations"));
    return (uint32_t)json_array_size(json_object_get(loop, "items"));
}

void flowview_step_marks(const struct flowview_step *step, struct buf *out)
{
    const json_t *spec = flowview_step_spec(step), *loop = json_object_get(spec, "for");
    size_t before = out->len;

    if (step->any)
        buf_str(out, "any of");
    if (doc_text(spec, "when"))
        buf_printf(out, "%salways", out->len > before ? ", " : "");
    if (doc_at(spec, "dependsOn.probe"))
        buf_printf(out, "%sprobe", out->len > before ? ", " : "");
    if (json_object_get(spec, "if"))
        buf_printf(out, "%sif", out->len > before ? ", " : "");
    if (json_object_get(spec, "switch"))
        buf_printf(out, "%sswitch", out->len > before ? ", " : "");
    if (json_object_get(loop, "until"))
        buf_printf(out, "%suntil", out->len > before ? ", " : "");
    else if (json_object_get(loop, "itemsFrom"))
        buf_printf(out, "%sfor %s.%s", out->len > before ? ", " : "",
                   doc_text(loop, "itemsFrom.target"), doc_text(loop, "itemsFrom.key"));
    else if (loop)
        buf_printf(out, "%sfor %u", out->len > before ? ", " : "", flowview_step_iterations(step));
}
