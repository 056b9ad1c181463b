#pragma once
/*
 * The names a daemon answers to; its certificate holds the same names (SEC-05). They are the common
 * local names, the host name, the addresses it listens on, and those of --tls-name.
 */
#include "api/server/http/host_check.h"
#include "cli/command/command.h"

enum { SERVER_NAMES_MAX = 160 };

struct server_names {
    const char *texts[SERVER_NAMES_MAX]; /* the names, owned */
    struct host_list list;               /* the list of those texts */
};

/** Replaces the previous names. `listen` must have been checked. */
void server_names_set(struct server_names *names, const struct flag_list *listen,
                      const struct flag_list *more);
void server_names_release(struct server_names *names);
