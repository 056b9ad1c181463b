#pragma once
/*
 * Ranges of ids at level full: each namespace of objects has one of its own, for as long as the
 * data directory lives. Which, is on disk before a program gets it: <data>/node/ids, a line for
 * each namespace ("NUMBER NAMESPACE"). A range is never given to another namespace.
 */
#include <stdint.h>

#include "base/error.h"

struct id_ranges;

/* Far above the ids of users and of what /etc/subuid usually gives away, in steps of 65536. */
enum { ID_RANGES_FIRST = 0x4000, ID_RANGES_END = 0xffff };

/** Read what earlier lives gave out in this directory. `seed`: where the numbers begin, so that
 * other data directories of this machine mostly have others. NULL with `err`. */
struct id_ranges *id_ranges_open(int dir_fd, uint64_t seed, struct error *err);
void id_ranges_free(struct id_ranges *ranges); /* NULL is fine */
/** The first id of the namespace's range. 0 with `err`. */
uint32_t id_ranges_of(struct id_ranges *ranges, const char *ns, struct error *err);
