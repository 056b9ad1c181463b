#pragma once
/*
 * Backfill: those behind one that waits for room may start before it, as long as that does not
 * delay it for ever.
 *
 * A backfill reservation belongs to the one that waits, its head. From the moment it begins, what
 * is taken of the capacity is *late*. Something may be taken only if all that is late, together
 * with what the head needs, stays within the capacity. So the head has its room at the latest when
 * all that was taken before the reservation is free again. Kinds of resources of which the head
 * needs nothing are not restricted.
 *
 * What takes capacity notes the stamp of that moment; the stamps of a reservation and of what is
 * late are compared.
 */
#include "node/machine/amount.h"

struct backfill {
    const void *head;   /* the item for which room is reserved, compared by address only; NULL:
                         * nothing is reserved */
    struct amount need; /* amount of resources that the head still needs */
    struct amount late; /* amount taken since the reservation began and still in use */
    uint64_t since;     /* stamp of the moment at which the reservation began */
};

/** Reserves `need` for `head`, in place of any other head. `stamp` must be later than the stamp of
 * anything that has been taken before. */
static inline void backfill_begin(struct backfill *backfill, const void *head, struct amount need,
                                  uint64_t stamp)
{
    *backfill = (struct backfill){.head = head, .need = need, .since = stamp};
}

static inline void backfill_end(struct backfill *backfill)
{
    *backfill = (struct backfill){0};
}

/** Counts `change`, an amount that was taken at `stamp`. The amount is negative when it is given
 * back; `stamp` is then still that of its taking. */
static inline void backfill_count(struct backfill *backfill, struct amount change, uint64_t stamp)
{
    if (backfill->head && stamp >= backfill->since)
        backfill->late = amount_add(backfill->late, change);
}

/** Returns the amount of resources that others than the head may take. */
static inline struct amount backfill_room(const struct backfill *backfill, struct amount capacity)
{
    struct amount room = amount_unlimited(), need = backfill->need, late = backfill->late;

    for (size_t kind = 0; backfill->head && kind < AMOUNT_KINDS; kind++)
        if (*amount_at(&need, kind) > 0)
            *amount_at(&room, kind) =
                *amount_at(&capacity, kind) - *amount_at(&late, kind) - *amount_at(&need, kind);
    return room;
}
