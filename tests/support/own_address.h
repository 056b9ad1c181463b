#pragma once
/*
 * A loopback address that no other process of this machine uses, so all its ports are free.
 */
#include <netinet/in.h>

/** Returns the address of this process with a port in host order. */
struct sockaddr_in own_address(uint16_t port);
/** Returns a socket (SOCK_DGRAM, or SOCK_STREAM with SO_REUSEADDR) bound to that address, at a
 * different port in each call. */
int own_socket(int type, uint16_t *out_port);
