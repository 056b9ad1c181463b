/*
 * Reads the arguments of Volcano's controller manager.
 */
#include "cli/controller/volcano.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define FLAG "--controllers"

enum { MINOR_SWITCH = 10 }; /* the first version in which controllers can be switched off */

bool volcano_runs(const char *list, const char *name)
{
    bool star = !*list;

    for (const char *at = list; *at;) {
        size_t len = strcspn(at, ","), sign = *at == '+' || *at == '-';

        if (len - sign == strlen(name) && strncmp(at + sign, name, len - sign) == 0)
            return *at != '-';
        star = star || (len == 1 && *at == '*');
        at += len + (at[len] == ',');
    }
    return star;
}

int volcano_minor_of_image(const char *image)
{
    const char *tag = image ? strrchr(image, ':') : NULL;
    int major = 0, minor = -1;

    if (!tag || strchr(tag, '/'))
        return -1;
    tag += 1 + (tag[1] == 'v');
    major = (int)strtol(tag, (char **)(uintptr_t)&tag, 10);
    if (major != 1 || *tag != '.')
        return -1;
    minor = (int)strtol(tag + 1, NULL, 10);
    return minor;
}

static void add_list(struct buf *list, const char *text, size_t len)
{
    if (list->len)
        buf_char(list, ',');
    buf_add(list, text, len);
}

/* Reads one word of a command line. `next` says whether the word before was the flag without its
 * value. */
static void read_word(struct buf *list, bool *next, const char *word, size_t len)
{
    size_t flag = strlen(FLAG);

    if (*next)
        add_list(list, word, len);
    *next = false;
    if (len < flag || strncmp(word, FLAG, flag) != 0)
        return;
    if (len == flag)
        *next = true;
    else if (word[flag] == '=')
        add_list(list, word + flag + 1, len - flag - 1);
}

/* Reads the words of one argument. An argument that is a shell script has many words. */
static void read_argument(struct buf *list, bool *next, const char *text)
{
    static const char blanks[] = " \t\n\"'\\";

    for (const char *at = text; *at;) {
        size_t len = strcspn(at, blanks);

        if (len)
            read_word(list, next, at, len);
        at += len;
        at += strspn(at, blanks);
    }
}

/* Appends the values of the flag in a container's command and arguments. */
static void read_container(struct buf *list, const json_t *container)
{
    static const char *const members[] = {"command", "args"};
    const json_t *word;
    bool next = false;
    size_t k;

    for (size_t i = 0; i < countof(members); i++)
        json_array_foreach(json_object_get(container, members[i]), k, word)
        {
            if (json_is_string(word))
                read_argument(list, &next, json_string_value(word));
        }
}

/* Returns the first rival that a list leaves on; NULL: none. */
static const char *rival_in(const char *list, const struct volcano_rivals *rivals)
{
    for (const char *const *name = rivals->names; *name; name++)
        if (volcano_runs(list, *name))
            return *name;
    return NULL;
}

static bool list_allows(const char *list, const struct volcano_rivals *rivals, const char *where,
                        struct error *err)
{
    const char *rival = rival_in(list, rivals);

    return !rival || error_set(err, ERR_CONFLICT, "",
                               "Volcano's %s runs in %s; start it with --controllers=%s (or pass "
                               "--volcano-controllers if that is not so)",
                               rival, where, rivals->without);
}

bool volcano_list_allows(const char *list, const struct volcano_rivals *rivals, struct error *err)
{
    const char *rival = rival_in(list, rivals);

    return !rival ||
           error_set(err, ERR_CONFLICT, "",
                     "--volcano-controllers: %s is on, and would write the same statuses", rival);
}

bool volcano_allows(const json_t *deployment, const struct volcano_rivals *rivals,
                    struct error *err)
{
    const json_t *metadata = json_object_get(deployment, "metadata");
    const json_t *spec = json_object_get(deployment, "spec");
    const json_t *pod = json_object_get(json_object_get(spec, "template"), "spec");
    const json_t *replicas = json_object_get(spec, "replicas"), *container;
    const char *ns = json_string_value(json_object_get(metadata, "namespace"));
    const char *name = json_string_value(json_object_get(metadata, "name"));
    scoped_str where = mem_printf("deployment %s/%s", ns ? ns : "", name ? name : "");
    size_t i;

    if (json_is_integer(replicas) && json_integer_value(replicas) == 0)
        return true;
    json_array_foreach(json_object_get(pod, "containers"), i, container)
    {
        const char *image = json_string_value(json_object_get(container, "image"));
        int minor = volcano_minor_of_image(image);
        scoped(buf) struct buf list = {0};

        if (minor >= 0 && minor < rivals->since_minor)
            continue; /* this version has none of these controllers */
        if (minor >= 0 && minor < MINOR_SWITCH)
            return error_set(err, ERR_CONFLICT, "",
                             "Volcano 1.%d in %s has no --controllers (since 1.10): upgrade "
                             "Volcano, or scale the deployment to 0 and use --mode=jobs",
                             minor, where);
        read_container(&list, container);
        if (!list_allows(list.data ? list.data : "", rivals, where, err))
            return false;
    }
    return true;
}
