/*
 * Holds together what the parts of the gateway need to ask one API server as one user.
 */
#include "web/server.h"

#include "base/mem.h"
#include "web/internal.h"
#include "web/topic/topic.h"

struct web_server *web_server_new(const struct web_server_options *options)
{
    struct web_server *server = mem_alloc(sizeof *server);

    server->options = *options;
    web_site_take(options->site, server);
    server->generation = upstream_generation(options->upstream);
    server->children = mem_alloc(sizeof *server->children);
    *server->children =
        (struct child_queue){options->child_slots, options->endpoint, options->token};
    server->topics = topics_new(server->loop, options->upstream, server->children);
    return server;
}

void web_server_free(struct web_server *server)
{
    if (!server)
        return;
    topics_free(server->topics);
    mem_free(server->children);
    mem_free(server);
}

void web_server_upstream_changed(struct web_server *server)
{
    unsigned generation = upstream_generation(server->options.upstream);

    if (generation != server->generation)
        topics_restart(server->topics);
    server->generation = generation;
    web_streams_tell_server(server);
}
