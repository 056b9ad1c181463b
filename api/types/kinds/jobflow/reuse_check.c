/*
 * Checks reads, writes and cache of steps: that a step which may be reused could be left out, that
 * relative paths stay in their directory, and that references in them have values.
 * Ref: spec/everyday.md 3.5, 4.1.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/jobflow/internal.h"
#include "base/digest/file_digest.h"
#include "base/mem.h"

enum { PATH_BYTES_MAX = 4096 };

static void check_path(struct control_check *c, const char *field, const char *path)
{
    if (!*path)
        FINDING(c->errors, ("%s", field), "Required value: a path or a pattern");
    else if (strlen(path) > PATH_BYTES_MAX)
        FINDING(c->errors, ("%s", field), "Too long: may not be longer than %d bytes",
                PATH_BYTES_MAX);
    else if (*path != '/' && digest_leads_out(path))
        FINDING(c->errors, ("%s", field),
                "Invalid value: \"%.256s\" leads out of the working directory: write an absolute "
                "path",
                path);
}

static void check_paths(struct control_check *c, size_t i, const char *member,
                        const struct str_list *paths)
{
    for (size_t k = 0; k < paths->count; k++) {
        scoped(buf) struct buf field = {0};

        buf_printf(&field, "spec.flows[%zu].%s[%zu]", i, member, k);
        check_path(c, field.data, paths->items[k]);
        jobflow_check_text_references(c, i, field.data, paths->items[k]);
    }
}

static const struct flow_gang *gang_of(const struct jobflow_spec *spec, const char *step)
{
    for (size_t g = 0; g < spec->gangs.count; g++)
        for (size_t m = 0; m < spec->gangs.items[g].steps.count; m++)
            if (strcmp(spec->gangs.items[g].steps.items[m], step) == 0)
                return &spec->gangs.items[g];
    return NULL;
}

static void check_cache(struct control_check *c, size_t i)
{
    const struct flow_step *step = &c->spec->steps.items[i];
    const struct flow_gang *gang = gang_of(c->spec, step->name);
    scoped(buf) struct buf field = {0};

    buf_printf(&field, "spec.flows[%zu].cache", i);
    if (!flow_step_makes_jobs(step))
        FINDING(c->errors, ("%s", field.data), "Invalid value: %s makes no job",
                step->choice ? "a switch" : "an approval");
    if (flow_step_serves(step))
        FINDING(c->errors, ("%s", field.data),
                "Invalid value: a step that ends with its dependents must run");
    if (gang)
        FINDING(c->errors, ("%s", field.data),
                "Invalid value: a member of gang %.64s starts with the others or not at all",
                gang->name);
    if (step->cache->key) {
        buf_str(&field, ".key");
        jobflow_check_text_references(c, i, field.data, step->cache->key);
    }
}

void jobflow_check_reuse(struct control_check *c, size_t i)
{
    const struct flow_step *step = &c->spec->steps.items[i];
    const struct flow_depends *depends = step->depends;

    check_paths(c, i, "reads", &step->reads);
    check_paths(c, i, "writes", &step->writes);
    if (step->cache)
        check_cache(c, i);
    for (size_t t = 0; depends && depends->probe && t < depends->targets.count; t++) {
        uint32_t at = name_index_get(c->names, depends->targets.items[t]);

        if (at != NAME_NONE && c->spec->steps.items[at].cache)
            FINDING(c->errors, ("spec.flows[%u].cache", at),
                    "Invalid value: step %.64s has dependents that probe it: it must run",
                    depends->targets.items[t]);
    }
}
