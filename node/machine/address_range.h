#pragma once
/*
 * Locking the /16 of loopback addresses from which the pods of this process get theirs.
 *
 * All nodes of a machine share 127.0.0.0/8, so each locks a range of its own: 127.10.0.0/16 or the
 * next free even one. The lock is a socket with an abstract name, which ends with the process. Its
 * pods may outlive the process: a range in which a program listens is only given to a process that
 * asks for it by number, because the pods are its own, or if no other range is left.
 */
#include <stdbool.h>
#include <stdint.h>

/** Locks a range: the one whose second byte is `wanted` if it is free, else another; 0 wants any.
 * Returns the second byte of the locked range and in `out_fd` the lock, which the caller closes.
 * Returns 0 when no range is free. */
uint8_t address_range_lock(uint8_t wanted, int *out_fd);
/** Returns the second byte of a loopback address that lies in a range for pods; 0 for any other
 * address. */
uint8_t address_range_of(const char *address);
