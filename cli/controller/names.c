/*
 * Reads lists of names. The list of --controllers is read from left to right, and the first entry that
 * names a controller decides whether it runs.
 */
#include "cli/controller/names.h"

#include <stdio.h>
#include <string.h>

#include "api/types/labels.h"
#include "base/mem.h"

enum { NAMESPACES_MAX = 100, NAME_BYTES = 65 }; /* a name has 63 bytes at most */
#define SUFFIX "-controller"

/* Copies the next entry of a list separated by commas; false at its end. An entry that is longer than
 * any name is cut, so it names nothing. */
static bool next_entry(const char **at, char out[NAME_BYTES])
{
    size_t len;

    if (!*at)
        return false;
    len = strcspn(*at, ",");
    snprintf(out, NAME_BYTES, "%.*s", (int)len, *at);
    *at = (*at)[len] ? *at + len + 1 : NULL;
    return true;
}

/* Returns whether one of the first `count` entries is this name. */
static bool stands_before(const char *text, size_t count, const char *name)
{
    char entry[NAME_BYTES];

    for (const char *at = text; count > 0 && next_entry(&at, entry); count--)
        if (strcmp(entry, name) == 0)
            return true;
    return false;
}

bool names_check_namespaces(const char *text, struct error *err)
{
    char name[NAME_BYTES];
    size_t count = 0;

    for (const char *at = text; count <= NAMESPACES_MAX && next_entry(&at, name); count++) {
        if (strlen(name) == NAME_BYTES - 1 || !name_is_dns_label(name, NULL))
            return error_set(err, ERR_INVALID, "", "\"%s\" is no name of a namespace", name);
        if (stands_before(text, count, name))
            return error_set(err, ERR_INVALID, "", "namespace %s stands there twice", name);
    }
    return count <= NAMESPACES_MAX ||
           error_set(err, ERR_INVALID, "", "at most %d namespaces can be named", NAMESPACES_MAX);
}

char **names_split(const char *text)
{
    char **names = text ? mem_array(NAMESPACES_MAX + 1, sizeof *names) : NULL;
    char name[NAME_BYTES];
    size_t count = 0;

    for (const char *at = text; count < NAMESPACES_MAX && next_entry(&at, name);)
        names[count++] = mem_strdup(name);
    return names;
}

void names_free(char **names)
{
    for (size_t i = 0; names && names[i]; i++)
        mem_free(names[i]);
    mem_free(names);
}

/* Returns whether an entry without its sign is this name. */
static bool is_name(const char *entry, const char *name)
{
    size_t len = strlen(name);

    return strncmp(entry, name, len) == 0 && (!entry[len] || strcmp(entry + len, SUFFIX) == 0);
}

static const char *without_sign(const char *entry)
{
    return entry + (*entry == '+' || *entry == '-');
}

static bool is_of_mode(const struct mode *mode, const char *entry)
{
    for (const char *const *name = mode->controllers; *name; name++)
        if (is_name(entry, *name))
            return true;
    return false;
}

bool names_check_controllers(const struct mode *mode, const char *list, struct error *err)
{
    const struct mode *kube = mode_find("kube");
    char entry[NAME_BYTES];

    for (const char *at = list; next_entry(&at, entry);) {
        const char *name = without_sign(entry);

        if (!*entry || strcmp(entry, "*") == 0 || is_of_mode(mode, name))
            continue;
        if (is_of_mode(kube, name))
            return error_set(err, ERR_INVALID, "",
                             "\"%s\" does not run in mode %s (use --mode=jobs or kube)", name,
                             mode->name);
        return error_set(err, ERR_INVALID, "",
                         "\"%s\" is no controller: there are jobflow, jobtemplate, job and gc",
                         name);
    }
    return true;
}

bool names_runs(const char *list, const char *name)
{
    char entry[NAME_BYTES];
    bool all = !*list;

    for (const char *at = list; next_entry(&at, entry);) {
        if (is_name(without_sign(entry), name))
            return *entry != '-';
        all = all || strcmp(entry, "*") == 0;
    }
    return all;
}
