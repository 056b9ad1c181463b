#pragma once
/*
 * The /16 of loopback addresses pods of this process get. All nodes of one machine share
 * 127.0.0.0/8, so each locks a range of its own: 127.10.0.0/16, or the next even one that nobody
 * has. The lock is a socket with a name but no file, which goes with the process. Its pods may
 * outlive it: a range in which somebody listens is taken only by who wants it, whose pods they are,
 * or when there is no other.
 */
#include <stdbool.h>
#include <stdint.h>

/** Lock a range, `wanted` (the second byte, 0 = any) if nobody has it. Its second byte, and the
 * lock to be closed; 0 when there is none left. */
uint8_t address_range_lock(uint8_t wanted, int *out_fd);
/** The second byte of a loopback address that could be a pod's; 0: it could not. */
uint8_t address_range_of(const char *address);
