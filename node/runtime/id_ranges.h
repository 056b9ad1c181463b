#pragma once
/*
 * Ranges of user and group ids for pods of isolation level full. Each Kubernetes namespace gets a
 * range of its own and keeps it as long as the data directory exists; a range is never given to
 * another namespace. The file <data>/node/ids has a line "NUMBER NAMESPACE" for each, which is
 * durable before a program gets ids of the range.
 */
#include <stdint.h>

#include "base/error.h"

struct id_ranges;

/* Numbers of the first range and behind the last one, in steps of 65536 ids. They are far above the
 * ids of users and the usual ranges of /etc/subuid. */
enum { ID_RANGES_FIRST = 0x4000, ID_RANGES_END = 0xffff };

/** Reads the ranges given out in this directory. New numbers begin at `seed`, so that data
 * directories of one machine rarely share ranges. Returns NULL with `err` on failure. */
struct id_ranges *id_ranges_open(int dir_fd, uint64_t seed, struct error *err);
void id_ranges_free(struct id_ranges *ranges); /* NULL is ignored */
/** Returns the first id of the namespace's range; a namespace without a range gets one now. Returns
 * 0 with `err` on failure. */
uint32_t id_ranges_of(struct id_ranges *ranges, const char *ns, struct error *err);
