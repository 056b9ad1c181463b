/*
 * The graph as an SVG picture: the layout that the terminal form uses, scaled to pixels, with lines
 * as curves through their waypoints. The file needs no script and no font, and follows the colour
 * scheme (light or dark) of the page that shows it.
 */
#include <string.h>

#include "base/mem.h"
#include "view/graph/graph_forms.h"
#include "view/graph/layout.h"

enum {
    COLUMN_WIDTH = 8, /* all sizes are in pixels */
    LINE_HEIGHT = 18, /* height of a line of text */
    MARGIN = 16,
    ROW_GAP = 48, /* vertical gap between rows */
    WAYPOINT = 3,
    GAP = 3,
};

struct svg {
    const struct graph_form *form;
    struct layout *layout;
    int *top; /* top of each layer, [n_layers + 1] */
};

/* The rules name the class of the picture, because a page that has it applies them to itself, too. */
static const char style[] =
    "  <style>\n"
    "    .flow text { font: 13px ui-monospace, monospace; fill: #1f2328; text-anchor: middle; }\n"
    "    .flow .dim { fill: #656d76; font-size: 11px; }\n"
    "    .flow rect { fill: #f6f8fa; stroke: #8c959f; }\n"
    "    .flow path { fill: none; stroke: #8c959f; stroke-width: 1.3; }\n"
    "    .flow .head { fill: #8c959f; stroke: none; }\n"
    "    .flow .any { stroke-dasharray: 5 3; }\n"
    "    .flow .done { fill: #dafbe1; stroke: #1a7f37; }\n"
    "    .flow .work { fill: #ddf4ff; stroke: #0969da; }\n"
    "    .flow .bad { fill: #ffebe9; stroke: #cf222e; }\n"
    "    .flow .off { fill: #eaeef2; stroke: #8c959f; stroke-dasharray: 3 2; }\n"
    "    .flow .critical { stroke-width: 2.6; }\n"
    "    @media screen and (prefers-color-scheme: dark) {\n"
    "      .flow text { fill: #e6edf3; } .flow .dim { fill: #9198a1; }\n"
    "      .flow rect { fill: #21262d; } .flow .done { fill: #0f2d18; }\n"
    "      .flow .work { fill: #0c2d4a; } .flow .bad { fill: #3d1214; }\n"
    "      .flow .off { fill: #161b22; }\n"
    "    }\n"
    "  </style>\n";

static void write_escaped(const char *text, struct buf *out)
{
    static const char special[] = "<>&\"'";
    static const char *const escaped[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};

    for (; *text; text++) {
        const char *found = strchr(special, *text);

        if (found)
            buf_str(out, escaped[found - special]);
        else if ((unsigned char)*text >= ' ')
            buf_char(out, *text);
    }
}

static const char *class_of(const struct flow_view_step *step)
{
    if (step->state == VIEW_NONE || step->state == VIEW_WAITING)
        return "wait";
    if (flow_view_step_failed(step))
        return "bad";
    if (step->state == VIEW_COMPLETED)
        return "done";
    return flow_view_step_active(step) ? "work" : "off";
}

static void step_texts(const struct graph_form *form, uint32_t i, struct buf *name,
                       struct buf *below)
{
    const struct flow_view_step *step = &form->view->steps[i];
    scoped(buf) struct buf marks = {0};

    write_escaped(step->name, name);
    graph_state(step, form->now_ms, below);
    flow_view_step_marks(step, &marks);
    if (marks.len)
        buf_printf(below, "%s%s", below->len ? " · " : "", marks.data);
}

static int *measure(const struct graph_form *form)
{
    int *widths = mem_array((size_t)form->view->n_steps + 1, sizeof *widths);

    for (uint32_t i = 0; i < form->view->n_steps; i++) {
        scoped(buf) struct buf name = {0}, below = {0};
        int n, m;

        step_texts(form, i, &name, &below);
        n = term_text_width(form->view->steps[i].name);
        m = below.len ? term_text_width(below.data) : 0;
        widths[i] = (n > m ? n : m) + 4;
    }
    return widths;
}

static int box_height(const struct graph_form *form)
{
    bool two = form->view->phase != FLOW_NONE;

    for (uint32_t i = 0; i < form->view->n_steps && !two; i++) {
        scoped(buf) struct buf marks = {0};

        flow_view_step_marks(&form->view->steps[i], &marks);
        two = marks.len > 0;
    }
    return two ? 2 * LINE_HEIGHT + 10 : LINE_HEIGHT + 12;
}

static int x_of(const struct layout_box *box)
{
    return MARGIN + box->center * COLUMN_WIDTH + COLUMN_WIDTH / 2;
}

static void draw_line(const struct svg *svg, const struct layout_line *line, int height)
{
    const struct layout_box *from = &svg->layout->boxes[line->from];
    const struct layout_box *to = &svg->layout->boxes[line->to];
    int y1 = svg->top[from->layer] + height, y2 = svg->top[to->layer], middle = (y1 + y2) / 2;
    bool any = svg->form->view->steps[line->target].any;
    bool critical = flow_view_edge_is_critical(svg->form->view, line->source, line->target);

    fprintf(svg->form->out, "  <path%s%s%s%s%s d=\"M%d %d", any || critical ? " class=\"" : "",
            any ? "any" : "", any && critical ? " " : "", critical ? "critical" : "",
            any || critical ? "\"" : "", x_of(from), y1);
    fprintf(svg->form->out, " C%d %d %d %d %d %d", x_of(from), middle, x_of(to), middle, x_of(to),
            y2);
    if (to->vertex == UINT32_MAX) /* the line passes through the row of the waypoint */
        fprintf(svg->form->out, " V%d", y2 + height);
    fprintf(svg->form->out, "\"%s/>\n",
            to->vertex == UINT32_MAX ? "" : " marker-end=\"url(#arrow)\"");
}

static void draw_box(const struct svg *svg, const struct layout_box *box, int height)
{
    const struct graph_form *form = svg->form;
    const struct flow_view_step *step = &form->view->steps[box->vertex];
    scoped(buf) struct buf name = {0}, below = {0}, why = {0};
    int width = box->width * COLUMN_WIDTH, y = svg->top[box->layer], x = x_of(box);

    step_texts(form, box->vertex, &name, &below);
    write_escaped(step->message ? step->message : "", &why);
    fprintf(form->out, "  <g>");
    if (why.len)
        fprintf(form->out, "<title>%s</title>", why.data);
    fprintf(form->out,
            "<rect class=\"%s%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/>",
            class_of(step), flow_view_step_critical(step) ? " critical" : "", x - width / 2, y,
            width, height);
    fprintf(form->out, "<text x=\"%d\" y=\"%d\">%s</text>", x,
            below.len ? y + LINE_HEIGHT : y + height / 2 + 4, name.data);
    if (below.len)
        fprintf(form->out, "<text class=\"dim\" x=\"%d\" y=\"%d\">%s</text>", x,
                y + 2 * LINE_HEIGHT, below.data);
    fprintf(form->out, "</g>\n");
}

static void draw(const struct svg *svg, int height)
{
    const struct layout *layout = svg->layout;
    int width = layout->columns * COLUMN_WIDTH + 2 * MARGIN;
    int rows = layout->n_layers ? svg->top[layout->n_layers] - ROW_GAP + MARGIN : 2 * MARGIN;
    scoped(buf) struct buf name = {0};

    write_escaped(svg->form->view->name, &name);
    fprintf(svg->form->out,
            "<svg class=\"flow\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "width=\"%d\" "
            "height=\"%d\">\n  <title>%s</title>\n",
            width, rows, width, rows, name.data);
    fputs(style, svg->form->out);
    fputs("  <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
          "markerUnits=\"userSpaceOnUse\" markerWidth=\"9\" markerHeight=\"9\" orient=\"auto\">"
          "<path class=\"head\" d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>\n",
          svg->form->out);
    for (size_t l = 0; l < layout->n_lines; l++)
        draw_line(svg, &layout->lines[l], height);
    for (size_t b = 0; b < layout->n_boxes; b++)
        if (layout->boxes[b].vertex != UINT32_MAX)
            draw_box(svg, &layout->boxes[b], height);
    fputs("</svg>\n", svg->form->out);
}

bool graph_svg(const struct graph_form *form, struct error *err)
{
    const struct flow_view *view = form->view;
    struct svg svg = {.form = form};
    uint32_t *layers = mem_array((size_t)view->n_steps + 1, sizeof *layers);
    int *widths = measure(form), height = box_height(form);
    bool drawn;

    for (uint32_t i = 0; i < view->n_steps; i++)
        layers[i] = view->steps[i].layer;
    svg.layout = layout_new(&view->dag, layers, widths, WAYPOINT, GAP, err);
    if (svg.layout) {
        svg.top = mem_array((size_t)svg.layout->n_layers + 1, sizeof *svg.top);
        for (uint32_t k = 0; k <= svg.layout->n_layers; k++)
            svg.top[k] = MARGIN + (int)k * (height + ROW_GAP);
        draw(&svg, height);
        mem_free(svg.top);
    }
    mem_free(widths);
    mem_free(layers);
    drawn = svg.layout != NULL;
    layout_free(svg.layout);
    return drawn;
}
