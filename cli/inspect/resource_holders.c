/*
 * Takes the name of the resource out of the scheduler's message, and looks for pods that are bound and
 * use this resource. When the message has another form, nothing is printed.
 */
#include "cli/inspect/resource_holders.h"

#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/client/lister.h"

enum { NAMES_MAX = 5, PODS_MAX = 5000 };

void resource_holders_release(struct resource_holders *holders)
{
    json_decref(holders->pods);
}

/* What a message of the scheduler says is lacking. Of "waits for room in queue db: needs 1
 * example.com/db (0 of 2 free)" it is the resource example.com/db and the queue db. Owned texts. */
struct shortage {
    char *resource, *queue; /* queue NULL: the node lacks it */
};

/* Returns the text between the first `mark` and the next character of `end`, owned; NULL without
 * `mark`. */
static char *word_behind(const char *text, const char *mark, const char *end)
{
    const char *at = strstr(text, mark);

    return at ? mem_printf("%.*s", (int)strcspn(at + strlen(mark), end), at + strlen(mark)) : NULL;
}

/* Returns whether the message says that an extended resource, one with a slash in its name, is
 * lacking. CPU and memory are left out: every job uses some, so a list of users would not help. */
static bool read_shortage(const char *message, struct shortage *out)
{
    scoped_str amount = word_behind(message, "needs ", "(");
    const char *space = amount ? strchr(amount, ' ') : NULL;

    if (!space || !strchr(space + 1, '/'))
        return false;
    out->resource = mem_printf("%.*s", (int)strcspn(space + 1, " "), space + 1);
    out->queue = word_behind(message, "in queue ", ":");
    return true;
}

/* Keeps a pod that is bound and has not ended. Returns false, which ends the list, once PODS_MAX pods
 * were seen. */
static bool keep(void *ctx, json_t *pod)
{
    struct resource_holders *holders = ctx;
    const char *phase = doc_text(pod, "status.phase"), *node = doc_text(pod, "spec.nodeName");
    const bool ended = phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);

    if (node && *node && !ended)
        json_array_append(holders->pods, pod);
    return ++holders->seen < PODS_MAX;
}

static void fetch(struct resource_holders *holders, struct client *client, const char *ns)
{
    const struct list_query everywhere = {.kind = &kind_pod}, here = {.kind = &kind_pod, .ns = ns};
    struct error err = {0};

    if (holders->pods)
        return;
    holders->pods = json_array();
    if (!list_each(client, &everywhere, keep, holders, NULL, &err) && !holders->seen)
        list_each(client, &here, keep, holders, NULL,
                  NULL); /* the user may read pods of this namespace only */
}

static bool wants(const json_t *pod, const char *resource)
{
    const json_t *container;
    size_t i;

    json_array_foreach(doc_at(pod, "spec.containers"), i, container)
    {
        const json_t *resources = json_object_get(container, "resources");

        if (json_object_get(json_object_get(resources, "requests"), resource) ||
            json_object_get(json_object_get(resources, "limits"), resource))
            return true;
    }
    return false;
}

static bool holds(const json_t *pod, const struct shortage *shortage)
{
    const char *phase = doc_text(pod, "status.phase"), *node = doc_text(pod, "spec.nodeName");
    const char *queue =
        json_string_value(json_object_get(doc_at(pod, "metadata.labels"), LABEL_QUEUE_NAME));

    if (!node || !*node || (phase && (strcmp(phase, "Succeeded") == 0 || !strcmp(phase, "Failed"))))
        return false;
    if (shortage->queue && queue && strcmp(queue, shortage->queue) != 0)
        return false;
    return wants(pod, shortage->resource);
}

/* Returns the name of the pod's job, or of a pod without a job its own name; owned. The namespace
 * stands before it unless it is `ns`. */
static char *owner_of(const json_t *pod, const char *ns)
{
    const char *its = doc_text(pod, "metadata.namespace");
    const char *job =
        json_string_value(json_object_get(doc_at(pod, "metadata.labels"), LABEL_JOB_NAME));
    const char *name = job ? job : doc_text(pod, "metadata.name");

    return its && strcmp(its, ns) != 0 ? mem_printf("%s/%s", its, name) : mem_strdup(name);
}

void resource_holders_write(struct resource_holders *holders, struct client *client, const char *ns,
                            const char *message, struct buf *out)
{
    struct shortage shortage = {0};
    scoped(json) json_t *named = json_object();
    const json_t *pod;
    size_t i;

    if (!client || !read_shortage(message, &shortage))
        return;
    fetch(holders, client, ns);
    json_array_foreach(holders->pods, i, pod)
    {
        scoped_str owner = holds(pod, &shortage) ? owner_of(pod, ns) : NULL;

        if (!owner || json_object_get(named, owner))
            continue;
        json_object_set_new(named, owner, json_true());
        if (json_object_size(named) <= NAMES_MAX)
            buf_printf(out, "%s%s", json_object_size(named) == 1 ? "; in use by " : ", ", owner);
    }
    if (json_object_size(named) > NAMES_MAX)
        buf_printf(out, " and %zu more", json_object_size(named) - NAMES_MAX);
    mem_free(shortage.resource);
    mem_free(shortage.queue);
}
