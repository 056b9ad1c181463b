#pragma once
/*
 * Lines between two rows of boxes, for the graph in a terminal.
 *
 * The space between two rows is a channel. Targets that wait for the same boxes share a *bus*: a
 * horizontal line that all their sources join from above and all the targets leave below, so every
 * path along lines is an edge of the graph. A source has one port in its lower border for each bus,
 * a target has one in its upper border, and no two buses use the same column.
 *
 *    ┌───────┐   ┌───────┐
 *    │   a   │   │   b   │
 *    └──┬─┬──┘   └───┬───┘
 *       │ └────┬─────┘        bus of {a, b}: c
 *       └───┐  └──────┐       bus of {a}: d (a channel has as many rows as buses overlap)
 *       ┌───▼───┐ ┌───▼───┐
 */
#include "view/graph/layout.h"

struct bus {
    uint32_t *sources, *targets; /* numbers of boxes, in the channel's arrays */
    size_t n_sources, n_targets;
    int left, right; /* columns at the ends */
    int track;       /* row in the channel; -1: straight down */
    uint32_t owner;  /* owner of its lines on the canvas */
};

struct channel {
    uint32_t *sources; /* sources of target k: positions from[k] to from[k + 1] */
    uint32_t *from; /* for each box of the lower row its first line, [boxes of the lower row + 1] */
    uint32_t *targets;  /* boxes of the lower row that have sources, grouped by bus */
    uint32_t first_box; /* number of the first box of the lower row */
    size_t n_targets, n_buses;
    struct bus *buses;
    int *in_ports, *bus_of_column; /* columns of the ports of the lower boxes; for each column 1 +
                                    * the bus with a port above */
    int tracks;
};

/**
 * Route the lines below `layer` of the layout, whose waypoints may move; every bus gets the next
 * number of `owners`. False when a port has no room: the boxes are too crowded to draw. `channel`
 * must be zeroed before; the caller releases it after success and failure.
 */
bool channel_route(struct channel *channel, const struct layout *layout, uint32_t layer,
                   uint32_t *owners);
void channel_release(struct channel *channel);
