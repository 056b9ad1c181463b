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
    ADDRESS_FIRST_OF_SERVICE = 2, /* first address of a Service in a private network; address 1 is
                                   * the bridge */
    ADDRESS_FIRST = 1024,
    ADDRESS_END = 65535, /* the addresses of a pool lie below this one, which is the broadcast
                          * address */
    ADDRESS_TEXT_MAX = 16,
};

struct address_pool {
    bool private_network;
    bool services;  /* true: addresses for Services; false: for pods */
    uint8_t second; /* second byte of the pods' range in 127.0.0.0/8; 0 stands for 10 */
    uint64_t taken[65536 / 64];
    uint32_t next; /* position in the bitmap at which the next search begins */
};

/** Takes a free address and returns its low 16 bits. Returns 0 when all addresses are taken. */
uint32_t address_pool_take(struct address_pool *pool);
/** Marks the address of an existing pod as taken. Returns its low 16 bits, or 0 when `text` is not
 * an address of this pool. */
uint32_t address_pool_reserve(struct address_pool *pool, const char *text);
/** Takes the address `text` if it is free and returns its low 16 bits; returns 0 if it is not
 * free. */
uint32_t address_pool_claim(struct address_pool *pool, const char *text);
/** An address of 0 is ignored. */
void address_pool_give_back(struct address_pool *pool, uint32_t address);
/** Writes an address of the pool as text, such as 127.10.4.2. The text of address 0 is empty. */
void address_pool_text(const struct address_pool *pool, uint32_t address,
                       char out[ADDRESS_TEXT_MAX]);
