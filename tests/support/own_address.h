#pragma once
/*
 * Addresses no other process of this machine has: all their ports are free.
 */
#include <netinet/in.h>

/** That of this process, with a port in host order. */
struct sockaddr_in own_address(uint16_t port);
/** A socket (SOCK_STREAM, which may be listened at again, or SOCK_DGRAM) bound to it, at a port
 * that is another one each time. */
int own_socket(int type, uint16_t *out_port);
