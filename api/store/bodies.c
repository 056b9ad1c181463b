/*
 * Counts the users of each stored body. The blob keeps its slot as a hint, so that most uses need
 * no look-up.
 */
#include "api/store/bodies.h"

#include <assert.h>

#include "base/mem.h"

enum { SWEEP_COUNT = 64, SWEEP_BYTES = 1 << 20 };

void bodies_init(struct bodies *bodies)
{
    *bodies = (struct bodies){.next_row = 1};
    mem_grow(bodies->slots, bodies->count, bodies->cap);
    bodies->slots[bodies->count++] = (struct body){0};
}

static void slot_clear(struct bodies *bodies, uint32_t slot)
{
    struct body *body = &bodies->slots[slot];

    if (body->blob->store_row == slot)
        body->blob->store_row = 0;
    bodies->bytes -= body->blob->len;
    bodies->live--;
    blob_unref(body->blob);
    *body = (struct body){0};
}

void bodies_release(struct bodies *bodies)
{
    for (uint32_t slot = 1; slot < bodies->count; slot++)
        if (bodies->slots[slot].blob)
            slot_clear(bodies, slot);
    mem_free(bodies->slots);
    mem_free(bodies->free_slots);
    mem_free(bodies->orphans);
    *bodies = (struct bodies){0};
}

/* Returns the slot of `blob`. blob->store_row is only a hint: another store in the process may have
 * overwritten it. */
static uint32_t slot_of(const struct bodies *bodies, const struct blob *blob)
{
    int64_t slot = blob->store_row;

    return slot > 0 && (size_t)slot < bodies->count && bodies->slots[slot].blob == blob
               ? (uint32_t)slot
               : 0;
}

static uint32_t slot_new(struct bodies *bodies, int64_t row, struct blob *blob)
{
    uint32_t slot;

    if (bodies->n_free) {
        slot = bodies->free_slots[--bodies->n_free];
    } else {
        mem_grow(bodies->slots, bodies->count, bodies->cap);
        slot = (uint32_t)bodies->count++;
    }
    bodies->slots[slot] = (struct body){.blob = blob, .row = row};
    blob->store_row = slot;
    bodies->live++;
    bodies->bytes += blob->len;
    return slot;
}

static void orphan_add(struct bodies *bodies, uint32_t slot)
{
    struct body *body = &bodies->slots[slot];

    bodies->orphan_bytes += body->blob->len;
    if (body->orphaned)
        return;
    body->orphaned = true;
    mem_grow(bodies->orphans, bodies->n_orphans, bodies->cap_orphans);
    bodies->orphans[bodies->n_orphans++] = slot;
}

uint32_t bodies_load(struct bodies *bodies, int64_t row, struct blob *blob)
{
    if (row >= bodies->next_row)
        bodies->next_row = row + 1;
    return slot_new(bodies, row, blob);
}

void bodies_loaded(struct bodies *bodies)
{
    for (uint32_t slot = 1; slot < bodies->count; slot++)
        if (bodies->slots[slot].blob && bodies->slots[slot].uses == 0)
            orphan_add(bodies, slot);
}

void bodies_use_slot(struct bodies *bodies, uint32_t slot)
{
    struct body *body = &bodies->slots[slot];

    if (body->uses++ == 0 && body->orphaned)
        bodies->orphan_bytes -= body->blob->len;
}

uint32_t bodies_use(struct bodies *bodies, struct blob *blob, struct batch *batch)
{
    uint32_t slot = slot_of(bodies, blob);

    if (!slot) {
        slot = slot_new(bodies, bodies->next_row++, blob_ref(blob));
        batch_add_body(batch, bodies->slots[slot].row, blob);
    }
    bodies_use_slot(bodies, slot);
    return slot;
}

void bodies_drop(struct bodies *bodies, uint32_t slot)
{
    assert(bodies->slots[slot].uses > 0);
    if (--bodies->slots[slot].uses == 0)
        orphan_add(bodies, slot);
}

void bodies_sweep(struct bodies *bodies, struct batch *batch)
{
    if (bodies->n_orphans < SWEEP_COUNT && bodies->orphan_bytes < SWEEP_BYTES)
        return;
    for (size_t i = 0; i < bodies->n_orphans; i++) {
        uint32_t slot = bodies->orphans[i];
        struct body *body = &bodies->slots[slot];

        body->orphaned = false;
        if (body->uses)
            continue;
        batch_drop_body(batch, body->row, body->blob);
        slot_clear(bodies, slot);
        mem_grow(bodies->free_slots, bodies->n_free, bodies->cap_free);
        bodies->free_slots[bodies->n_free++] = slot;
    }
    bodies->n_orphans = 0;
    bodies->orphan_bytes = 0;
}
