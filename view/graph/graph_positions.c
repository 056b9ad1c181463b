/*
 * Where the boxes and lines of a flow are drawn, for programs: the layers from left to right, as
 * pages are wider than high and names of steps are long.
 */
#include "base/mem.h"
#include "view/graph/graph_forms.h"
#include "view/graph/layout.h"

/* Sizes in em, roughly the width of a letter. */
enum {
    COLUMN = 26, /* from the left side of a layer to that of the next one */
    BOX_WIDTH = 20,
    BOX_HEIGHT = 3,
    WAYPOINT = 1,
    GAP = 1,
};

static int x_of(const struct layout_box *box)
{
    return (int)box->layer * COLUMN;
}

static void add_point(json_t *points, int x, int y)
{
    json_array_append_new(points, json_pack("[i, i]", x, y));
}

static json_t *boxes_json(const struct flow_view *view, const struct layout *layout)
{
    json_t *boxes = json_array();

    for (size_t b = 0; b < layout->n_boxes; b++) {
        const struct layout_box *box = &layout->boxes[b];

        if (box->vertex != UINT32_MAX)
            json_array_append_new(boxes, json_pack("{s:s, s:i, s:i, s:i, s:i}", "step",
                                                   view->steps[box->vertex].name, "x", x_of(box),
                                                   "y", box->center - BOX_HEIGHT / 2, "w",
                                                   (int)BOX_WIDTH, "h", (int)BOX_HEIGHT));
    }
    return boxes;
}

/* Returns the number of the edge in view->dag. */
static uint32_t edge_of(const struct flow_view *view, uint32_t source, uint32_t target)
{
    uint32_t e = view->dag.first[source];

    while (view->dag.next[e] != target)
        e++;
    return e;
}

/* Lines are sorted by layer, so those of one edge come in its direction. A line through a waypoint
 * crosses the whole layer. */
static json_t *edges_json(const struct flow_view *view, const struct layout *layout)
{
    uint32_t n = view->dag.first[view->n_steps];
    json_t **points = mem_array((size_t)n + 1, sizeof *points);
    json_t *edges = json_array();

    for (size_t l = 0; l < layout->n_lines; l++) {
        const struct layout_line *line = &layout->lines[l];
        const struct layout_box *from = &layout->boxes[line->from], *to = &layout->boxes[line->to];
        uint32_t e = edge_of(view, line->source, line->target);

        if (!points[e])
            points[e] = json_array();
        add_point(points[e], x_of(from) + BOX_WIDTH, from->center);
        add_point(points[e], x_of(to), to->center);
    }
    for (uint32_t i = 0; i < view->n_steps; i++)
        for (uint32_t e = view->dag.first[i]; e < view->dag.first[i + 1]; e++) {
            const struct flow_view_step *to = &view->steps[view->dag.next[e]];

            json_array_append_new(edges,
                                  json_pack("{s:s, s:s, s:s, s:o}", "from", view->steps[i].name,
                                            "to", to->name, "kind", to->any ? "any" : "target",
                                            "points", points[e] ? points[e] : json_array()));
        }
    mem_free(points);
    return edges;
}

static json_t *layout_json(const struct flow_view *view, const struct layout *layout)
{
    uint32_t layers = layout->n_layers;

    return json_pack("{s:s, s:i, s:i, s:o, s:o}", "unit", "em", "width",
                     layers ? (int)(layers - 1) * COLUMN + BOX_WIDTH : 0, "height", layout->columns,
                     "boxes", boxes_json(view, layout), "edges", edges_json(view, layout));
}

void graph_positions(const struct flow_view *view, json_t *out)
{
    uint32_t *layers = mem_array((size_t)view->n_steps + 1, sizeof *layers);
    int *widths = mem_array((size_t)view->n_steps + 1, sizeof *widths);
    scoped(layout) struct layout *layout = NULL;
    struct error err = {0};

    for (uint32_t i = 0; i < view->n_steps; i++) {
        layers[i] = view->steps[i].layer;
        widths[i] = BOX_HEIGHT;
    }
    layout = layout_new(&view->dag, layers, widths, WAYPOINT, GAP, &err);
    if (layout)
        json_object_set_new(out, "layout", layout_json(view, layout));
    else
        json_object_set_new(out, "layoutMissing", json_string(err.message));
    mem_free(layers);
    mem_free(widths);
}
