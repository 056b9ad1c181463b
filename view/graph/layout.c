/*
 * Places boxes in two stages. igraph's Sugiyama layout adds waypoints and decides the order within
 * each row. The columns follow in sweeps over the rows: every box is drawn to the weighted mean of
 * its neighbours, as far as order and gaps allow; each row is a least-squares problem with an
 * order, which the pool-adjacent-violators algorithm solves exactly.
 */
#include "view/graph/layout.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "view/graph/igraph_dlopen.h"

enum { SWEEPS = 12, CROSSING_ROUNDS = 100 };

struct drawing {
    const struct igraph_library *lib;
    const struct dag *dag;
    const uint32_t *layers;
    struct layout *layout;
    igraph_t graph, extended;
    igraph_vector_int_t edges; /* edges of the extended graph */
    igraph_matrix_t positions;
    uint32_t *box_of; /* box of each vertex of the extended graph */
};

static size_t count_boxes(const struct dag *dag, const uint32_t *layers)
{
    size_t n = dag->vertices;

    for (uint32_t v = 0; v < dag->vertices; v++)
        for (uint32_t e = dag->first[v]; e < dag->first[v + 1]; e++)
            n += layers[dag->next[e]] - layers[v] - 1;
    return n;
}

static bool make_graph(struct drawing *d, igraph_vector_int_t *layers)
{
    igraph_vector_int_t ends;
    bool ok = !d->lib->vector_int_init(&ends, 0);

    for (uint32_t v = 0; ok && v < d->dag->vertices; v++) {
        VECTOR(*layers)[v] = (igraph_integer_t)d->layers[v];
        for (uint32_t e = d->dag->first[v]; ok && e < d->dag->first[v + 1]; e++)
            ok = !d->lib->vector_int_push_back(&ends, (igraph_integer_t)v) &&
                 !d->lib->vector_int_push_back(&ends, (igraph_integer_t)d->dag->next[e]);
    }
    ok = ok && !d->lib->create(&d->graph, &ends, (igraph_integer_t)d->dag->vertices, true);
    d->lib->vector_int_destroy(&ends);
    return ok;
}

static bool run_igraph(struct drawing *d)
{
    igraph_vector_int_t layers;
    bool ok;

    if (d->lib->vector_int_init(&layers, (igraph_integer_t)d->dag->vertices))
        return false;
    ok = make_graph(d, &layers);
    if (ok) {
        d->lib->vector_int_init(&d->edges, 0);
        d->lib->matrix_init(&d->positions, 0, 0);
        ok = !d->lib->layout_sugiyama(&d->graph, &d->positions, &d->extended, &d->edges, &layers, 1,
                                      1, CROSSING_ROUNDS, NULL);
        if (!ok) {
            d->lib->vector_int_destroy(&d->edges);
            d->lib->matrix_destroy(&d->positions);
            d->lib->destroy(&d->graph);
        }
    }
    d->lib->vector_int_destroy(&layers);
    return ok;
}

struct vertex_position {
    double x;
    uint32_t layer, vertex; /* layer and vertex in the extended graph */
};

static int compare_positions(const void *a, const void *b)
{
    const struct vertex_position *p = a, *q = b;

    if (p->layer != q->layer)
        return p->layer < q->layer ? -1 : 1;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

static void make_boxes(struct drawing *d, const int *widths, int waypoint)
{
    struct layout *layout = d->layout;
    size_t n = (size_t)d->lib->vcount(&d->extended);
    struct vertex_position *positions = mem_array(n + 1, sizeof *positions);

    for (size_t v = 0; v < n; v++)
        positions[v] = (struct vertex_position){
            MATRIX(d->positions, (igraph_integer_t)v, 0),
            (uint32_t)lround(MATRIX(d->positions, (igraph_integer_t)v, 1)), (uint32_t)v};
    qsort(positions, n, sizeof *positions, compare_positions);
    layout->boxes = mem_array(n + 1, sizeof *layout->boxes);
    layout->n_boxes = n;
    layout->n_layers = n ? positions[n - 1].layer + 1 : 0;
    layout->first = mem_array((size_t)layout->n_layers + 1, sizeof *layout->first);
    d->box_of = mem_array(n + 1, sizeof *d->box_of);
    for (size_t i = 0; i < n; i++) {
        bool is_step = positions[i].vertex < d->dag->vertices;
        int width = is_step ? widths[positions[i].vertex] : waypoint;

        layout->boxes[i] = (struct layout_box){.vertex = is_step ? positions[i].vertex : UINT32_MAX,
                                               .layer = positions[i].layer,
                                               .width = width | 1};
        layout->first[positions[i].layer + 1] = (uint32_t)i + 1;
        /* This holds because no layer is empty. */
        assert(i == 0 || positions[i].layer <= positions[i - 1].layer + 1);
        d->box_of[positions[i].vertex] = (uint32_t)i;
    }
    mem_free(positions);
}

static int compare_lines(const void *a, const void *b)
{
    const struct layout_line *p = a, *q = b;

    if (p->from != q->from)
        return p->from < q->from ? -1 : 1;
    return (p->to > q->to) - (p->to < q->to);
}

static void make_lines(struct drawing *d)
{
    struct layout *layout = d->layout;

    layout->n_lines = (size_t)d->lib->ecount(&d->extended);
    layout->lines = mem_array(layout->n_lines + 1, sizeof *layout->lines);
    for (size_t e = 0; e < layout->n_lines; e++) {
        igraph_integer_t from, to, source, target;

        d->lib->edge(&d->extended, (igraph_integer_t)e, &from, &to);
        d->lib->edge(&d->graph, VECTOR(d->edges)[e], &source, &target);
        layout->lines[e] = (struct layout_line){d->box_of[from], d->box_of[to], (uint32_t)source,
                                                (uint32_t)target};
    }
    qsort(layout->lines, layout->n_lines, sizeof *layout->lines, compare_lines);
    layout->first_line = mem_array((size_t)layout->n_layers + 1, sizeof *layout->first_line);
    for (size_t l = 0; l < layout->n_lines; l++)
        layout->first_line[layout->boxes[layout->lines[l].from].layer + 1] = (uint32_t)l + 1;
    for (uint32_t k = 0; k < layout->n_layers; k++) /* set also for layers without lines */
        if (layout->first_line[k + 1] < layout->first_line[k])
            layout->first_line[k + 1] = layout->first_line[k];
}

struct desired {
    double at, weight; /* desired column of the middle of a box */
};

struct block { /* a block of boxes that touch each other */
    double at, weight;
    uint32_t end;
};

/* Places boxes [from, to) as near to their desired columns as order and gaps allow: least squares.
 * */
static void place_row(const struct layout *layout, double *centers, const struct desired *desired,
                      uint32_t from, uint32_t to, int gap)
{
    struct block *blocks = mem_array((size_t)(to - from) + 1, sizeof *blocks);
    double offset = 0;
    size_t n = 0;
    uint32_t at = from;

    for (uint32_t i = from; i < to; i++) {
        if (i > from)
            offset += (layout->boxes[i - 1].width + layout->boxes[i].width) / 2.0 + gap;
        centers[i] = offset;
        blocks[n++] = (struct block){desired[i].at - offset, desired[i].weight, i + 1};
        while (n > 1 && blocks[n - 2].at > blocks[n - 1].at) {
            struct block *a = &blocks[n - 2], *b = &blocks[n - 1];

            a->at = (a->at * a->weight + b->at * b->weight) / (a->weight + b->weight);
            a->weight += b->weight;
            a->end = b->end;
            n--;
        }
    }
    for (size_t k = 0; k < n; k++)
        for (; at < blocks[k].end; at++)
            centers[at] += blocks[k].at;
    mem_free(blocks);
}

/* Lines between waypoints have the largest weight, so they stay straight. */
static double line_weight(const struct layout *layout, const struct layout_line *line)
{
    int waypoints = (layout->boxes[line->from].vertex == UINT32_MAX) +
                    (layout->boxes[line->to].vertex == UINT32_MAX);

    return waypoints == 2 ? 8 : waypoints + 1;
}

/* Sums the columns of each box's neighbours in the row above or below, with their weights. */
static void average_neighbours(const struct layout *layout, const double *centers, uint32_t layer,
                               bool from_above, struct desired *desired)
{
    uint32_t upper = from_above ? layer - 1 : layer;

    for (uint32_t l = layout->first_line[upper]; l < layout->first_line[upper + 1]; l++) {
        const struct layout_line *line = &layout->lines[l];
        uint32_t box = from_above ? line->to : line->from;
        uint32_t other = from_above ? line->from : line->to;
        double weight = line_weight(layout, line);

        desired[box].at += centers[other] * weight;
        desired[box].weight += weight;
    }
}

static void sweep(const struct layout *layout, double *centers, struct desired *desired, bool down,
                  int gap)
{
    for (uint32_t k = 0; k < layout->n_layers; k++) {
        uint32_t layer = down ? k : layout->n_layers - 1 - k;
        uint32_t from = layout->first[layer], to = layout->first[layer + 1];

        memset(desired + from, 0, (to - from) * sizeof *desired);
        if (k > 0)
            average_neighbours(layout, centers, layer, down, desired);
        for (uint32_t i = from; i < to; i++)
            desired[i] = desired[i].weight > 0 ? (struct desired){desired[i].at / desired[i].weight,
                                                                  desired[i].weight}
                                               : (struct desired){centers[i], 0.1};
        place_row(layout, centers, desired, from, to, gap);
    }
}

/* Rounds to whole columns; the leftmost box begins at 0. */
static void round_columns(struct layout *layout, const double *centers, int gap)
{
    int left = INT32_MAX;

    for (uint32_t layer = 0; layer < layout->n_layers; layer++) {
        int free_from = INT32_MIN / 2;

        for (uint32_t i = layout->first[layer]; i < layout->first[layer + 1]; i++) {
            struct layout_box *box = &layout->boxes[i];
            int half = box->width / 2;

            box->center = (int)lround(centers[i]);
            if (box->center - half < free_from)
                box->center = free_from + half;
            free_from = box->center + half + 1 + gap;
            if (box->center - half < left)
                left = box->center - half;
        }
    }
    for (size_t i = 0; i < layout->n_boxes; i++) {
        struct layout_box *box = &layout->boxes[i];

        box->center -= left;
        if (box->center + box->width / 2 + 1 > layout->columns)
            layout->columns = box->center + box->width / 2 + 1;
    }
}

static void choose_columns(struct layout *layout, int gap)
{
    double *centers = mem_array(layout->n_boxes + 1, sizeof *centers);
    struct desired *desired = mem_array(layout->n_boxes + 1, sizeof *desired);

    for (int round = 0; round < SWEEPS; round++)
        sweep(layout, centers, desired, round % 2 == 0, gap);
    round_columns(layout, centers, gap);
    mem_free(centers);
    mem_free(desired);
}

struct layout *layout_new(const struct dag *dag, const uint32_t *layers, const int *widths,
                          int waypoint, int gap, struct error *err)
{
    struct drawing d = {.dag = dag, .layers = layers};
    size_t boxes = count_boxes(dag, layers);

    if (dag->vertices > LAYOUT_STEPS_MAX || boxes > LAYOUT_BOXES_MAX) {
        error_set(err, ERR_TOO_LARGE, "",
                  "%u steps and %zu edges are too many to draw: at most %d steps, and %d positions "
                  "edges pass",
                  dag->vertices, dag_edges(dag), LAYOUT_STEPS_MAX, LAYOUT_BOXES_MAX);
        return NULL;
    }
    if (dag->vertices && !(d.lib = igraph_library_load(err)))
        return NULL;
    d.layout = mem_alloc(sizeof *d.layout);
    if (dag->vertices == 0) {
        d.layout->first = mem_array(1, sizeof *d.layout->first);
        return d.layout;
    }
    if (!run_igraph(&d)) {
        layout_free(d.layout);
        error_set(err, ERR_INTERNAL, "", "the layout of the graph failed");
        return NULL;
    }
    make_boxes(&d, widths, waypoint);
    make_lines(&d);
    d.lib->vector_int_destroy(&d.edges);
    d.lib->matrix_destroy(&d.positions);
    d.lib->destroy(&d.extended);
    d.lib->destroy(&d.graph);
    mem_free(d.box_of);
    choose_columns(d.layout, gap);
    return d.layout;
}

void layout_free(struct layout *layout)
{
    if (!layout)
        return;
    mem_free(layout->boxes);
    mem_free(layout->first);
    mem_free(layout->lines);
    mem_free(layout->first_line);
    mem_free(layout);
}
