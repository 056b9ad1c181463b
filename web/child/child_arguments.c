/*
 * Writes the endpoint's flags by the rows that every command reads them by, so that none of them
 * can be missing.
 */
#include "web/child/child_arguments.h"

#include <string.h>

#include "base/mem.h"

struct arguments {
    char **items;
    size_t count, cap;
};

static void add(struct arguments *arguments, char *owned)
{
    mem_grow(arguments->items, arguments->count, arguments->cap);
    arguments->items[arguments->count++] = owned;
}

static void add_value(struct arguments *arguments, const struct flag *flag, const char *value)
{
    if (value)
        add(arguments, mem_printf("--%s=%s", flag->name, value));
}

static void add_flag(struct arguments *arguments, const struct flag *flag,
                     const struct client_endpoint *endpoint)
{
    const void *member = (const char *)endpoint + flag->offset;

    if (flag->type == FLAG_BOOL) {
        if (*(const bool *)member)
            add(arguments, mem_printf("--%s", flag->name));
    } else if (flag->type == FLAG_LIST) {
        const struct flag_list *list = member;

        for (size_t i = 0; i < list->count; i++)
            add_value(arguments, flag, list->items[i]);
    } else {
        add_value(arguments, flag, *(const char *const *)member);
    }
}

char **child_arguments(char *const *texts, const struct child_queue *queue)
{
    static const struct flag flags[] = {CLIENT_ENDPOINT_FLAGS(0)};
    struct arguments arguments = {0};
    struct client_endpoint given = *queue->endpoint;

    /* The usual directory is no flag: --data-dir and those of a kubeconfig exclude each other. */
    if (given.data_dir && strcmp(given.data_dir, CLIENT_USUAL_DIR) == 0)
        given.data_dir = NULL;
    add(&arguments, mem_strdup("jobflow"));
    for (size_t i = 0; texts[i]; i++)
        add(&arguments, mem_strdup(texts[i]));
    for (size_t i = 0; i < countof(flags); i++)
        add_flag(&arguments, &flags[i], &given);
    if (queue->token)
        add(&arguments, mem_printf("--token-file=/proc/self/fd/%d", CHILD_TOKEN_FD));
    add(&arguments, NULL);
    return arguments.items;
}

void child_arguments_free(char **arguments)
{
    for (size_t i = 0; arguments && arguments[i]; i++)
        mem_free(arguments[i]);
    mem_free(arguments);
}
