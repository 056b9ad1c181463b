/*
 * The command `jobflow events`: prints events of all objects or of one, oldest first, and with -w
 * those that follow.
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/client/event_list.h"
#include "cli/client/lister.h"
#include "cli/client/resource.h"
#include "cli/cmd/commands.h"
#include "view/table_print.h"

struct events_options {
    struct client_endpoint endpoint;
    const char *namespace, *for_, *types;
    bool all_namespaces, watch, no_headers;
};

#define EVENTS(member) offsetof(struct events_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR,  "for",            0,   "KIND/NAME", "only what happened to this object", EVENTS(for_)},
    {FLAG_STR,  "types",          0,   "TYPE",      "only this type: Normal or Warning", EVENTS(types)},
    {FLAG_BOOL, "watch",          'w', NULL,        "go on and print new ones", EVENTS(watch)},
    {FLAG_STR,  "namespace",      'n', "NAME",      "namespace to look in; default: that of the kubeconfig, or default", EVENTS(namespace)},
    {FLAG_BOOL, "all-namespaces", 'A', NULL,        "look in all namespaces", EVENTS(all_namespaces)},
    {FLAG_BOOL, "no-headers",     0,   NULL,        "leave out the line of column names", EVENTS(no_headers)},
    CLIENT_ENDPOINT_FLAGS(EVENTS(endpoint)),
    {0},
};
/* clang-format on */

static const struct events_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL};

struct events {
    const struct events_options *options;
    struct client *client;
    struct table_print table;
    struct watcher watcher;
    bool is_behind, printed;
};

static void print_event(struct events *events, const struct event *event)
{
    scoped_str age = event_age(event, clock_wall_ms(clock_real()));
    char *const cells[] = {event->ns,     age,           event->type,
                           event->reason, event->object, event->message};

    table_print_rows(&events->table, events->options->all_namespaces ? cells : cells + 1, 1);
    events->printed = true;
}

static void print_all(struct events *events, const struct eventlist *list)
{
    size_t columns = events->options->all_namespaces ? 6 : 5;
    char **cells = mem_array(list->count * columns + 1, sizeof *cells);
    char **ages = mem_array(list->count + 1, sizeof *ages);

    for (size_t i = 0; i < list->count; i++) {
        const struct event *event = &list->items[i];
        char *const row[] = {event->ns,     ages[i] = event_age(event, clock_wall_ms(clock_real())),
                             event->type,   event->reason,
                             event->object, event->message};

        memcpy(cells + i * columns, row + 6 - columns, columns * sizeof *cells);
    }
    table_print_rows(&events->table, cells, list->count);
    events->printed = events->printed || list->count > 0;
    for (size_t i = 0; i < list->count; i++)
        mem_free(ages[i]);
    mem_free(ages);
    mem_free(cells);
    fflush(stdout);
}

static bool on_change(struct watcher *watcher, enum watch_event change, json_t *object)
{
    struct events *events = container_of(watcher, struct events, watcher);
    struct event event;

    if (change == WATCH_DELETED)
        return true;
    event_from_json(object, &event);
    print_event(events, &event);
    event_release(&event);
    fflush(stdout);
    return true;
}

static void on_ended(struct watcher *watcher, const struct error *err)
{
    container_of(watcher, struct events, watcher)->is_behind = err->code == ERR_GONE;
}

static char *selector(const struct events *events, struct error *err)
{
    struct resource resource;
    scoped_str about = NULL;

    if (events->options->for_) {
        if (!resource_parse(events->options->for_, &resource, err))
            return NULL;
        about = event_selector(resource.kind->name, resource.name, NULL);
    }
    if (!events->options->types)
        return about ? take(about) : mem_strdup("");
    return mem_printf("%s%stype=%s", about ? about : "", about ? "," : "", events->options->types);
}

static bool take_revision(void *ctx, json_t *page)
{
    return false;
}

/* Lists and prints events; with -w, watches from there. */
static bool show(struct events *events, const char *fields, struct error *err)
{
    const char *ns = events->options->all_namespaces
                         ? NULL
                         : client_namespace(events->client, events->options->namespace);
    const struct list_query query = {.kind = &kind_event, .ns = ns, .fields = fields};

    do {
        scoped(eventlist) struct eventlist list = {0};
        scoped_str revision = NULL;

        events->is_behind = false;
        if (events->options->watch &&
            !list_pages(events->client, &query, take_revision, NULL, &revision, err))
            return false;
        if (!eventlist_get(events->client, ns, fields, &list, err))
            return false;
        print_all(events, &list);
        if (!events->options->watch || !client_is_live(events->client))
            break;
        watcher_start(events->client, &events->watcher, &query, revision);
        client_run(events->client, -1);
    } while (events->is_behind);
    return true;
}

static int run(const void *options, int n_operands, char **operands)
{
    static const char *const titles[] = {"NAMESPACE", "LAST SEEN", "TYPE",
                                         "REASON",    "OBJECT",    "MESSAGE"};
    struct events events = {.options = options,
                            .watcher = {.changed = on_change, .ended = on_ended}};
    size_t skip = events.options->all_namespaces ? 0 : 1;
    struct error err = {0};
    scoped_str fields = selector(&events, &err);
    int code = EXIT_OK;

    if (!fields) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    table_print_init(&events.table, stdout,
                     &(const struct table_print_options){.no_headers = events.options->no_headers});
    table_print_columns(&events.table, titles + skip, countof(titles) - skip);
    events.client = client_open_at(&events.options->endpoint, CLIENT_LOOK, &err);
    if (!events.client || !show(&events, fields, &err)) {
        cli_error(&err);
        code = events.client ? EXIT_FAILED : client_open_failed(&err);
    } else if (!events.printed && !events.options->watch) {
        fprintf(stderr,
                events.options->all_namespaces ? "No events found.\n"
                                               : "No events found in %s namespace.\n",
                client_namespace(events.client, events.options->namespace));
        code = EXIT_FAILED;
    }
    watcher_stop(&events.watcher);
    table_print_release(&events.table);
    client_close(events.client);
    return code;
}

const struct command cmd_events = {
    .name = "events",
    .summary = "Print what happened to flows, jobs and pods, oldest first",
    .examples = "  jobflow events --for jf/pipeline\n"
                "  jobflow events -w --types Warning",
    .flags = flags,
    .options_size = sizeof(struct events_options),
    .defaults = &defaults,
    .run = run,
};
