/*
 * Parses the list of --controllers. Ref: Volcano pkg/controllers/framework, IsControllerEnabled;
 * cmd/controller-manager/app/options, CheckOptionOrDie.
 */
#include "cli/engine/controllers.h"

#include <string.h>

#include "base/compiler.h"

#define SUFFIX "-controller"

#define CONTROLLER_TEXT(name, text) text,
static const char *const names[] = {CONTROLLERS(CONTROLLER_TEXT)};
#undef CONTROLLER_TEXT
/* The controllers that always run: the list may name them but cannot switch them off. */
static const char *const built_in[] = {"gc", "queue", "podgroup", "pg"};

enum { ALWAYS = CONTROLLER_N, UNKNOWN };

static int find(const char *const *list, size_t n, const char *name, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(list[i]) == len && strncmp(list[i], name, len) == 0)
            return (int)i;
    return -1;
}

static int look_up(const char *name, size_t len)
{
    size_t suffix = strlen(SUFFIX);
    int found;

    if (len > suffix && strncmp(name + len - suffix, SUFFIX, suffix) == 0)
        len -= suffix;
    found = find(names, countof(names), name, len);
    if (found >= 0)
        return found;
    return find(built_in, countof(built_in), name, len) >= 0 ? ALWAYS : UNKNOWN;
}

struct choice {
    unsigned on, off;
    bool all;
};

static bool take_entry(const char *entry, size_t len, struct choice *choice, struct error *err)
{
    char sign = *entry == '+' || *entry == '-' ? *entry : '\0';
    const char *name = entry + (sign != '\0');
    int which = look_up(name, len - (sign != '\0'));

    if (len == 1 && *entry == '*') {
        choice->all = true;
        return true;
    }
    if (which == UNKNOWN)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "\"%.*s\" names no controller: job, jobflow, jobtemplate, "
                         "cronjob, flowtrigger or *",
                         (int)len, entry);
    if (which == ALWAYS && sign == '-')
        return error_set(err, ERR_BAD_REQUEST, "",
                         "\"%.*s\": it is a part of this program that cannot be "
                         "switched off",
                         (int)len, entry);
    if (which == ALWAYS)
        return true;
    if (sign == '-')
        choice->off |= CONTROLLER_BIT(which);
    else
        choice->on |= CONTROLLER_BIT(which);
    if (choice->on & choice->off)
        return error_set(err, ERR_BAD_REQUEST, "", "%s cannot be switched on and off at once",
                         names[which]);
    return true;
}

bool controllers_parse(const char *list, unsigned *out_off, struct error *err)
{
    unsigned every = CONTROLLER_BIT(CONTROLLER_N) - 1;
    struct choice choice = {0};

    for (const char *at = list;; at++) {
        size_t len = strcspn(at, ",");

        if (len && !take_entry(at, len, &choice, err))
            return false;
        at += len;
        if (!*at)
            break;
    }
    *out_off = choice.all ? choice.off : every & ~choice.on;
    return true;
}
