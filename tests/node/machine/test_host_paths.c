/*
 * Tests which paths of the host pods may mount.
 *
 * covers: reliability.md SEC-20
 */
#include "tests/unit.h"

#include <stdio.h>

#include "node/machine/host_paths.h"

static const char *const prefixes[] = {"/data", "/data/out:rw", "/scratch//:rw", "/odd:rw:rw"};

static const struct {
    const char *path;
    const char *rule; /* expected rule: its prefix and what it allows; NULL = none */
} paths[] = {
    {"/data", "/data ro"},
    {"/data/x/y", "/data ro"},
    {"/database", NULL},
    {"/data/out", "/data/out rw"},
    {"/data/out/x", "/data/out rw"},
    {"/data/outer", "/data ro"},
    {"/scratch/x", "/scratch rw"},
    {"/scratch", "/scratch rw"},
    {"/odd:rw", "/odd:rw rw"},
    {"/", NULL},
    {"/etc", NULL},
};

static void the_longest_prefix_decides(void **state)
{
    struct host_paths rules = {0};

    for (size_t i = 0; i < countof(prefixes); i++)
        check(prefixes[i], host_paths_add(&rules, prefixes[i], NULL));
    for (size_t i = 0; i < countof(paths); i++) {
        const struct host_path_rule *rule = host_paths_rule(&rules, paths[i].path);
        char text[64] = "none";

        if (rule)
            snprintf(text, sizeof text, "%.*s %s", (int)rule->len, rule->prefix,
                     rule->writable ? "rw" : "ro");
        check_str(paths[i].path, text, paths[i].rule ? paths[i].rule : "none");
    }
}

static void the_root_covers_everything(void **state)
{
    struct host_paths rules = {0};

    check("added", host_paths_add(&rules, "/:rw", NULL));
    check("root", host_paths_rule(&rules, "/") && host_paths_rule(&rules, "/etc")->writable);
}

static const char *const refused[] = {"", "data", "./data", "/data/../etc", "/..", "../data:rw"};

static void what_is_no_prefix_is_refused(void **state)
{
    struct host_paths rules = {0};
    struct error err = {0};

    for (size_t i = 0; i < countof(refused); i++) {
        check(refused[i], !host_paths_add(&rules, refused[i], &err));
        check_has(refused[i], err.message, "absolute path without '..'");
    }
    for (int i = 0; i < HOST_PATH_RULES_MAX; i++)
        check("room", host_paths_add(&rules, "/x", NULL));
    check("no room", !host_paths_add(&rules, "/x", &err));
    check_has("no room", err.message, "at most 64");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_prefix_decides),
        cmocka_unit_test(the_root_covers_everything),
        cmocka_unit_test(what_is_no_prefix_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
