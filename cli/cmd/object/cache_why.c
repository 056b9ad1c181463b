/*
 * Plans the file, and prints what was compared for the step.
 */
#include "cli/cmd/object/cache_why.h"

#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/preflight/plan.h"

/* What a file or a step is to the step that asks. */
static const struct {
    const char *role, *text;
} roles[] = {
    {"reads", "reads"},
    {"writes", "writes"},
    {"mentions", "named by its command"},
    {"made", "made by its command"},
    {"target", "target"},
};

static char *title_of(const json_t *row)
{
    const char *role = doc_text(row, "role");

    for (size_t i = 0; role && i < countof(roles); i++)
        if (strcmp(roles[i].role, role) == 0)
            return mem_printf("%s (%s)", doc_text(row, "name"), roles[i].text);
    return mem_strdup(doc_text(row, "name"));
}

static void print_rows(const json_t *rows, bool same, const char *heading)
{
    static const char uncounted[] = "resources, labels, queue";
    size_t i, width = same ? sizeof uncounted - 1 : 0;
    const json_t *row;
    bool any = same;

    json_array_foreach(rows, i, row)
    {
        scoped_str title = title_of(row);

        any |= json_is_true(json_object_get(row, "same")) == same;
        width = strlen(title) > width ? strlen(title) : width;
    }
    if (any)
        printf("%s\n", heading);
    json_array_foreach(rows, i, row)
    {
        scoped_str title = title_of(row);

        if (json_is_true(json_object_get(row, "same")) == same)
            printf("  %-*s   %s\n", (int)width, title, doc_text(row, "text"));
    }
    if (same)
        printf("  %-*s   do not count\n", (int)width, uncounted);
}

static void print_step(const json_t *step)
{
    const json_t *rows = json_object_get(step, "compared");
    const char *then = doc_text(step, "then");
    const bool reused = then && strncmp(then, "reused", strlen("reused")) == 0;

    printf("%s: %s\n", doc_text(step, "name"), then ? then : "runs: 'cache' is not set");
    if (!rows)
        return;
    print_rows(rows, false, "because of:");
    print_rows(rows, true, reused ? "the same as then:" : "not because of:");
}

static const json_t *find(const json_t *plan, const char *name)
{
    const json_t *flow, *step;
    size_t i, k;

    json_array_foreach(json_object_get(plan, "flows"), i, flow)
    {
        json_array_foreach(json_object_get(flow, "steps"), k, step)
        {
            if (strcmp(doc_text(step, "name"), name) == 0)
                return step;
        }
    }
    return NULL;
}

bool cache_why_file(struct client *client, const char *ns, char *file, const char *step,
                    struct error *err)
{
    scoped(manifests) struct manifests set = {0};
    scoped(fit) struct fit *fit = fit_new(&(struct fit_options){.any_resource = true});
    struct plan_options options = {.namespace = ns, .client = client, .fit = fit};
    scoped(json) json_t *plan = NULL;
    const json_t *found;
    bool refused = false;

    if (manifests_load(&set, 1, &file)) {
        options.only_changed = !plan_may_reuse(&set);
        plan = plan_make(&set, &options, &refused);
    }
    if (!plan)
        return error_set(err, ERR_BAD_REQUEST, "", "%s cannot run as it is", file);
    found = find(plan, step);
    if (!found)
        return error_set(err, ERR_NOT_FOUND, "", "%s has no step \"%.64s\"", file, step);
    print_step(found);
    return true;
}
