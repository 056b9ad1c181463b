#pragma once
/*
 * The addresses of pods and of Services, as a bitmap of a /16.
 *
 * Pods get addresses of 127.10.0.0/16 or of another range (address_range.h); with a private network
 * those of 10.127.0.0/16. The first 1,024 of the /16 are reserved. Services get those of the next
 * /16; with a private network some of the reserved ones.
 *
 * Addresses are given out in turn, so an address that was given back rests until all others have
 * been used: connections in TIME_WAIT and clients with a stale address find no listener. Ref:
 * spec/local-runtime.md 3.1.
 */
#include <stdbool.h>
#include <stdint.h>

enum {
    ADDRESS_FIRST_OF_SERVICE = 2, /* in a private network, where 1 is the bridge */
    ADDRESS_FIRST = 1024,
    ADDRESS_END = 65535, /* the last one is the broadcast address */
    ADDRESS_TEXT_MAX = 16,
};

struct address_pool {
    bool private_network;
    bool services;  /* for Services; else for pods */
    uint8_t second; /* byte of the pods' loopback range; 0 = 10 */
    uint64_t taken[65536 / 64];
    uint32_t next; /* the next search begins here */
};

/** Take a free address (the low 16 bits); 0 when all are taken. */
uint32_t address_pool_take(struct address_pool *pool);
/** Mark the address of an existing pod as taken. Returns it, or 0 when `text` is not an address of
 * this pool. */
uint32_t address_pool_reserve(struct address_pool *pool, const char *text);
/** Take this address if it is free. Returns it, or 0. */
uint32_t address_pool_claim(struct address_pool *pool, const char *text);
void address_pool_give_back(struct address_pool *pool, uint32_t address); /* 0 is fine */
/** Write the address as text; "" for 0. */
void address_pool_text(const struct address_pool *pool, uint32_t address,
                       char out[ADDRESS_TEXT_MAX]);
