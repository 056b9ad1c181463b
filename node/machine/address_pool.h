#pragma once
/*
 * Addresses of pods: 127.10.0.0/16, or another /16 (address_range.h), or 10.127.0.0/16 in a network
 * of their own; the first 1,024 stay ours. Addresses of Services: the /16 behind that of pods, or,
 * in a network of their own, some of those that stay ours.
 *
 * They are given out in a moving window, so that one that was given back rests until all others
 * have had their turn: connections in TIME_WAIT and stale clients find nobody. Ref:
 * spec/local-runtime.md 3.1.
 */
#include <stdbool.h>
#include <stdint.h>

enum {
    ADDRESS_FIRST_OF_SERVICE = 2, /* in a network of their own; the bridge is the one before */
    ADDRESS_FIRST = 1024,
    ADDRESS_END = 65535, /* the last one is a broadcast address */
    ADDRESS_TEXT_MAX = 16,
};

struct address_pool {
    bool private_network;
    bool services;  /* of Services, not of pods: beside them */
    uint8_t second; /* byte of the pods' loopback range; 0 = 10 */
    uint64_t taken[65536 / 64];
    uint32_t next; /* where the next search begins */
};

/** A free address, or 0 when all are taken. */
uint32_t address_pool_take(struct address_pool *addresses);
/** Hold the address of a pod of an earlier life. Returns it, or 0 when `text` is none of ours. */
uint32_t address_pool_reserve(struct address_pool *addresses, const char *text);
/** The same of an address that must be free: 0 also when it is taken. */
uint32_t address_pool_claim(struct address_pool *addresses, const char *text);
void address_pool_give_back(struct address_pool *addresses, uint32_t address); /* 0 is fine */
/** "" for 0. */
void address_pool_text(const struct address_pool *addresses, uint32_t address,
                       char out[ADDRESS_TEXT_MAX]);
