/*
 * The rules for host paths apply to prefixes. A prefix ends at a component of a path: /srv covers
 * /srv and /srv/x, but not /srvx.
 */
#include "node/machine/host_paths.h"

#include <string.h>

static const char writable[] = ":rw";

bool host_path_climbs(const char *path)
{
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (!at[2] || at[2] == '/'))
            return true;
    }
    return false;
}

bool host_paths_add(struct host_paths *paths, const char *word, struct error *err)
{
    struct host_path_rule rule = {.prefix = word, .len = strlen(word)};
    size_t suffix = strlen(writable);

    rule.writable = rule.len > suffix && strcmp(word + rule.len - suffix, writable) == 0;
    if (rule.writable)
        rule.len -= suffix;
    while (rule.len > 1 && word[rule.len - 1] == '/')
        rule.len--;
    if (*word != '/' || host_path_climbs(word))
        return error_set(err, ERR_INVALID, "",
                         "\"%s\" is no prefix of paths: write an absolute path without '..', and "
                         ":rw behind it if pods may write there",
                         word);
    if (paths->n == HOST_PATH_RULES_MAX)
        return error_set(err, ERR_INVALID, "", "at most %d prefixes may be given",
                         HOST_PATH_RULES_MAX);
    paths->rules[paths->n++] = rule;
    return true;
}

static bool covers(const struct host_path_rule *rule, const char *path)
{
    return rule->len == 1 || (strncmp(path, rule->prefix, rule->len) == 0 &&
                              (!path[rule->len] || path[rule->len] == '/'));
}

const struct host_path_rule *host_paths_rule(const struct host_paths *paths, const char *path)
{
    const struct host_path_rule *best = NULL;

    for (size_t i = 0; i < paths->n; i++)
        if (covers(&paths->rules[i], path) && (!best || paths->rules[i].len > best->len))
            best = &paths->rules[i];
    return best;
}
