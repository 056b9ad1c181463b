/*
 * Draws the graph in a terminal: rows of boxes (layout) with routed lines between them
 * (graph_channel) on a canvas. Falls back to a table when the boxes do not fit.
 */
#include <string.h>

#include "base/mem.h"
#include "view/graph/canvas.h"
#include "view/graph/graph_channel.h"
#include "view/graph/graph_forms.h"
#include "view/table_print.h"

enum { NAME_MAX_COLUMNS = 40, GAP = 2, WAYPOINT = 3, CELLS_MAX = 4 << 20, TEXTS = 3 };

struct label {
    char *texts[TEXTS]; /* name, state, marks; NULL after the last */
    int n;
};

struct picture {
    const struct graph_form *form;
    struct layout *layout;
    struct label *labels;     /* labels of the steps, [n_steps] */
    int *top, *height;        /* top and height of each layer, [n_layers] */
    struct channel *channels; /* channels between the layers, [n_layers - 1] */
    struct canvas canvas;
    uint32_t owners;
};

static void make_label(const struct picture *picture, uint32_t i)
{
    const struct graph_form *form = picture->form;
    const struct flow_view_step *step = &form->view->steps[i];
    struct label *label = &picture->labels[i];
    scoped(buf) struct buf name = {0}, state = {0}, marks = {0};
    int width = term_text_width(step->name);

    buf_str(&name, flow_view_step_critical(step) ? "* " : "");
    term_write_cell(form->term, step->name, width < NAME_MAX_COLUMNS ? width : NAME_MAX_COLUMNS,
                    &name);
    label->texts[label->n++] = buf_take(&name);
    graph_state(step, form->now_ms, &state);
    if (state.len)
        label->texts[label->n++] = buf_take(&state);
    flow_view_step_marks(step, &marks);
    if (marks.len)
        label->texts[label->n++] = buf_take(&marks);
}

/* Returns how many ports a step needs in its lower border: one for each dependent in the next row
 * that waits for other steps too, and one for all dependents that wait for this step alone or are
 * in lower rows. */
static int ports_needed(const struct flow_view *view, uint32_t step)
{
    const struct dag *targets = &view->targets;
    int own = 0, ports = 0;

    for (uint32_t e = view->dag.first[step]; e < view->dag.first[step + 1]; e++) {
        uint32_t next = view->dag.next[e];
        bool far = view->steps[next].layer > view->steps[step].layer + 1;

        if (far || targets->first[next + 1] - targets->first[next] == 1)
            own = 1;
        else
            ports++;
    }
    return ports + own;
}

static int *measure(struct picture *picture)
{
    const struct flow_view *view = picture->form->view;
    int *widths = mem_array((size_t)view->n_steps + 1, sizeof *widths);

    for (uint32_t i = 0; i < view->n_steps; i++) {
        int ports = ports_needed(view, i);

        make_label(picture, i);
        for (int t = 0; t < picture->labels[i].n; t++) {
            int width = term_text_width(picture->labels[i].texts[t]) + 4;

            if (width > widths[i])
                widths[i] = width;
        }
        if (ports < NAME_MAX_COLUMNS && 2 * ports + 1 > widths[i])
            widths[i] = 2 * ports + 1;
    }
    return widths;
}

static void draw_box(struct picture *picture, const struct layout_box *box, int row, int height)
{
    const struct flow_view_step *step = &picture->form->view->steps[box->vertex];
    const struct label *label = &picture->labels[box->vertex];
    const char *state = flow_view_step_state(step);
    enum color color = state ? table_print_word_color(state) : COLOR_NONE;
    int left = box->center - box->width / 2;
    bool bold = flow_view_step_critical(step);

    canvas_box(&picture->canvas, &(struct canvas_box){.row = row,
                                                      .column = left,
                                                      .width = box->width,
                                                      .height = height,
                                                      .owner = ++picture->owners,
                                                      .bold = bold});
    for (int t = 0; t < label->n; t++) {
        int room = box->width - 2 - term_text_width(label->texts[t]);

        canvas_text(&picture->canvas, row + 1 + t, left + 1 + room / 2, label->texts[t],
                    t == 0            ? COLOR_NONE
                    : state && t == 1 ? color
                                      : COLOR_DIM,
                    bold && t == 0);
    }
}

static void draw_row(struct picture *picture, uint32_t layer)
{
    const struct layout *layout = picture->layout;
    int top = picture->top[layer], height = picture->height[layer];

    for (uint32_t i = layout->first[layer]; i < layout->first[layer + 1]; i++) {
        const struct layout_box *box = &layout->boxes[i];

        if (box->vertex != UINT32_MAX) {
            draw_box(picture, box, top, height);
            continue;
        }
        ++picture->owners;
        for (int row = top; row < top + height; row++)
            canvas_join(&picture->canvas, row, box->center, CANVAS_UP | CANVAS_DOWN,
                        picture->owners);
    }
}

static void draw_channel(struct picture *picture, uint32_t layer)
{
    const struct layout *layout = picture->layout;
    const struct channel *channel = &picture->channels[layer];
    int top = picture->top[layer] + picture->height[layer];
    int bottom = picture->top[layer + 1] - 1;
    struct canvas *canvas = &picture->canvas;

    for (size_t b = 0; b < channel->n_buses; b++)
        if (channel->buses[b].track >= 0)
            canvas_across(canvas, top + channel->buses[b].track, channel->buses[b].left,
                          channel->buses[b].right, channel->buses[b].owner);
    for (int column = 0; column < layout->columns; column++) {
        const struct bus *bus = channel->bus_of_column[column]
                                    ? &channel->buses[channel->bus_of_column[column] - 1]
                                    : NULL;

        if (!bus)
            continue;
        canvas_down(canvas, column, top, bus->track < 0 ? bottom : top + bus->track, bus->owner);
        canvas_join(canvas, top, column, CANVAS_UP, bus->owner);
        canvas_join(
            canvas, top - 1, column, CANVAS_DOWN,
            canvas->cells[(size_t)(top - 1) * (size_t)canvas->columns + (size_t)column].owner);
    }
    for (size_t b = 0; b < channel->n_buses; b++) {
        const struct bus *bus = &channel->buses[b];

        for (size_t t = 0; t < bus->n_targets; t++) {
            int column = channel->in_ports[bus->targets[t]];
            const struct layout_box *box = &layout->boxes[channel->first_box + bus->targets[t]];

            canvas_down(canvas, column, bus->track < 0 ? top : top + bus->track, bottom,
                        bus->owner);
            canvas_join(canvas, bottom, column, CANVAS_DOWN, bus->owner);
            if (box->vertex != UINT32_MAX)
                canvas_glyph(canvas, bottom + 1, column, picture->form->term->utf8 ? 0x25bc : 'v');
        }
    }
}

static int row_height(const struct picture *picture, uint32_t layer)
{
    const struct layout *layout = picture->layout;
    int lines = 1;

    for (uint32_t i = layout->first[layer]; i < layout->first[layer + 1]; i++) {
        uint32_t step = layout->boxes[i].vertex;

        if (step != UINT32_MAX && picture->labels[step].n > lines)
            lines = picture->labels[step].n;
    }
    return lines + 2;
}

static bool draw(struct picture *picture)
{
    const struct layout *layout = picture->layout;
    int row = 0;

    for (uint32_t layer = 0; layer < layout->n_layers; layer++) {
        picture->top[layer] = row;
        picture->height[layer] = row_height(picture, layer);
        row += picture->height[layer];
        if (layer + 1 < layout->n_layers)
            row += picture->channels[layer].tracks ? picture->channels[layer].tracks : 1;
    }
    if ((int64_t)row * layout->columns > CELLS_MAX)
        return false;
    canvas_init(&picture->canvas, row, layout->columns);
    for (uint32_t layer = 0; layer < layout->n_layers; layer++)
        draw_row(picture, layer);
    for (uint32_t layer = 0; layer + 1 < layout->n_layers; layer++)
        draw_channel(picture, layer);
    canvas_print(&picture->canvas, picture->form->term, picture->form->out);
    return true;
}

static void picture_release(struct picture *picture)
{
    for (uint32_t i = 0; i < picture->form->view->n_steps; i++)
        for (int t = 0; t < picture->labels[i].n; t++)
            mem_free(picture->labels[i].texts[t]);
    for (uint32_t k = 0; picture->channels && k + 1 < picture->layout->n_layers; k++)
        channel_release(&picture->channels[k]);
    canvas_release(&picture->canvas);
    layout_free(picture->layout);
    mem_free(picture->channels);
    mem_free(picture->labels);
    mem_free(picture->top);
    mem_free(picture->height);
}

static bool route(struct picture *picture)
{
    for (uint32_t layer = 0; layer + 1 < picture->layout->n_layers; layer++)
        if (!channel_route(&picture->channels[layer], picture->layout, layer, &picture->owners))
            return false;
    return true;
}

/* Draws the boxes. False when they do not fit, with an error when they cannot be laid out. */
static bool draw_boxes(const struct graph_form *form, struct error *err)
{
    const struct flow_view *view = form->view;
    struct picture picture = {.form = form};
    uint32_t *layers = mem_array((size_t)view->n_steps + 1, sizeof *layers);
    int *widths;
    bool drawn = false;

    picture.labels = mem_array((size_t)view->n_steps + 1, sizeof *picture.labels);
    widths = measure(&picture);
    for (uint32_t i = 0; i < view->n_steps; i++)
        layers[i] = view->steps[i].layer;
    picture.layout = layout_new(&view->dag, layers, widths, WAYPOINT, GAP, err);
    mem_free(widths);
    mem_free(layers);
    if (picture.layout && (!form->columns || picture.layout->columns <= form->columns)) {
        size_t n = picture.layout->n_layers;

        picture.top = mem_array(n + 1, sizeof *picture.top);
        picture.height = mem_array(n + 1, sizeof *picture.height);
        picture.channels = mem_array(n + 1, sizeof *picture.channels);
        drawn = route(&picture) && draw(&picture);
    }
    picture_release(&picture);
    return drawn;
}

void graph_text(const struct graph_form *form)
{
    struct error err = {0};

    if (!form->view->n_steps) {
        fputs("(no steps)\n", form->out);
        return;
    }
    if (draw_boxes(form, &err))
        return;
    graph_table(form);
    if (err.code == ERR_UNAVAILABLE)
        fprintf(form->out, "\nShown as a table: %s\n", err.message);
}
