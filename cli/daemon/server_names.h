#pragma once
/*
 * The names a daemon answers to, which are those its certificate holds (SEC-05): what everybody
 * calls this machine, its host name, the addresses it listens on, and what --tls-name adds.
 */
#include "api/server/http/host_check.h"
#include "cli/command/command.h"

enum { SERVER_NAMES_MAX = 160 };

struct server_names {
    const char *texts[SERVER_NAMES_MAX]; /* owned */
    struct host_list list;               /* of them */
};

/** Takes the place of what was there. `listen` has been checked. */
void server_names_set(struct server_names *names, const struct flag_list *listen,
                      const struct flag_list *more);
void server_names_release(struct server_names *names);
