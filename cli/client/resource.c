/*
 * Parses operands into kinds and names; the error for an unknown kind suggests the nearest one.
 */
#include "cli/client/resource.h"

#include <string.h>

#include "base/mem.h"

/* The kinds of "all": those users inspect. Others (config maps, leases, …) are requested by kind.
 */
static const struct kind *const all_kinds[] = {
    &kind_job_flow, &kind_job_template, &kind_flow_trigger, &kind_cron_job,
    &kind_job,      &kind_pod_group,    &kind_pod,          &kind_service,
};

void resources_release(struct resources *resources)
{
    mem_free(resources->items);
    *resources = (struct resources){0};
}

static void add(struct resources *resources, const struct kind *kind, const char *name)
{
    mem_grow(resources->items, resources->count, resources->cap);
    resources->items[resources->count++] = (struct resource){kind, name};
}

static const struct kind *find_kind(const char *word, struct error *err)
{
    const struct kind *kind = kind_by_word(word), *near = kind ? NULL : kind_nearest(word);

    if (near)
        error_set(err, ERR_BAD_REQUEST, "",
                  "the server doesn't have a resource type \"%s\"; did you mean \"%s\"?", word,
                  near->plural);
    else if (!kind)
        error_set(err, ERR_BAD_REQUEST, "", "the server doesn't have a resource type \"%s\"", word);
    return kind;
}

/* Reports a single word that is no kind. The word is often a flow's name, so the message hints at
 * that. */
static bool names_no_type(const char *word, struct error *err)
{
    return error_set(err, ERR_BAD_REQUEST, "",
                     "the server doesn't have a resource type \"%s\"; a flow of that name is "
                     "written jf/%s",
                     word, word);
}

bool resource_parse(const char *word, struct resource *out, struct error *err)
{
    const char *slash = strchr(word, '/');
    scoped_str kind_word = mem_strdup(word);
    const struct kind *kind;

    if (!slash || !slash[1] || slash == word || strchr(slash + 1, '/'))
        return error_set(err, ERR_BAD_REQUEST, "", "\"%s\" is not of the form KIND/NAME", word);
    kind_word[slash - word] = '\0';
    kind = find_kind(kind_word, err);
    if (!kind)
        return false;
    *out = (struct resource){kind, slash + 1};
    return true;
}

static bool parse_pairs(int n, char *const *words, struct resources *out, struct error *err)
{
    struct resource resource = {0};

    for (int i = 0; i < n; i++) {
        if (!strchr(words[i], '/'))
            return error_set(err, ERR_BAD_REQUEST, "",
                             "there is no need to specify a resource type as a separate argument "
                             "when passing arguments in resource/name form; \"%s\" is not of that "
                             "form",
                             words[i]);
        if (!resource_parse(words[i], &resource, err))
            return false;
        add(out, resource.kind, resource.name);
        out->many_kinds = out->many_kinds || resource.kind != out->items[0].kind;
    }
    return true;
}

static void add_kind(struct resources *out, const struct kind *kind, int n, char *const *names)
{
    if (n == 0)
        add(out, kind, NULL);
    for (int i = 0; i < n; i++)
        add(out, kind, names[i]);
}

bool resources_parse(int n, char *const *words, struct resources *out, struct error *err)
{
    scoped_str kinds = NULL;
    char *rest = NULL;

    if (n == 0)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "say what: a kind (jf, jt, vcjob, pods, pg, queue, events, …), KIND NAME "
                         "or KIND/NAME");
    if (strchr(words[0], '/'))
        return parse_pairs(n, words, out, err);
    for (int i = 1; i < n; i++)
        if (strchr(words[i], '/'))
            return error_set(err, ERR_BAD_REQUEST, "",
                             "\"%s\": names have no slash; write either KIND NAME… or KIND/NAME…",
                             words[i]);
    kinds = mem_strdup(words[0]);
    for (char *word = strtok_r(kinds, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        const struct kind *kind;

        if (strcmp(word, "all") == 0) {
            out->of_all = n == 1;
            for (size_t i = 0; i < countof(all_kinds); i++)
                add_kind(out, all_kinds[i], n - 1, words + 1);
            continue;
        }
        kind = find_kind(word, err);
        if (!kind)
            return n == 1 && !kind_nearest(word) ? names_no_type(word, err) : false;
        add_kind(out, kind, n - 1, words + 1);
    }
    for (size_t i = 1; i < out->count; i++)
        out->many_kinds = out->many_kinds || out->items[i].kind != out->items[0].kind;
    return out->count > 0 || error_set(err, ERR_BAD_REQUEST, "", "\"%s\" names no kind", words[0]);
}

static void write_group(const struct kind *kind, struct buf *out)
{
    if (*kind->group)
        buf_printf(out, ".%s", kind->group);
}

void resource_write_name(const struct kind *kind, const char *name, struct buf *out)
{
    buf_str(out, kind->singular);
    write_group(kind, out);
    buf_char(out, '/');
    buf_str(out, name);
}
