/*
 * Collects the names a daemon answers to; each name occurs once.
 */
#include "cli/daemon/server_names.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/daemon/serve_values.h"

static const char *const always[] = {"localhost",  "127.0.0.1",          "::1",
                                     "kubernetes", "kubernetes.default", "kubernetes.default.svc"};

enum { LISTS = 2, HOST_NAME = 1 };
_Static_assert(SERVER_NAMES_MAX >=
                   countof(always) + HOST_NAME + LISTS * countof(((struct flag_list *)0)->items),
               "there is room for all");

static void add(struct server_names *names, const char *name)
{
    for (size_t i = 0; i < names->list.n_hosts; i++)
        if (strcmp(names->texts[i], name) == 0)
            return;
    names->texts[names->list.n_hosts++] = mem_strdup(name);
}

void server_names_set(struct server_names *names, const struct flag_list *listen,
                      const struct flag_list *more)
{
    struct listen_address address;
    char host[256] = "";

    server_names_release(names);
    names->list.hosts = names->texts;
    for (size_t i = 0; i < countof(always); i++)
        add(names, always[i]);
    if (gethostname(host, sizeof host - 1) == 0 && host[0])
        add(names, host);
    for (size_t i = 0; i < listen->count; i++)
        if (listen_address_parse(listen->items[i], &address, NULL))
            add(names, address.host);
    for (size_t i = 0; i < more->count; i++)
        add(names, more->items[i]);
}

void server_names_release(struct server_names *names)
{
    for (size_t i = 0; i < names->list.n_hosts; i++)
        mem_free((void *)names->texts[i]);
    *names = (struct server_names){0};
}
