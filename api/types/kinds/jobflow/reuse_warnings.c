/*
 * Warns of declared files over which steps disagree: a step that reads what another writes without
 * waiting for it, two steps that may write a file at the same time, and a step that reads and writes
 * one. Ref: spec/everyday.md 3.5.
 *
 * Only texts are compared, so a warning is given only where equal texts are the same file: absolute
 * paths, and relative ones of scripts without a patch, which share their working directory. Texts
 * that differ between iterations or attempts are left out.
 */
#include <fnmatch.h>
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/jobflow/internal.h"
#include "base/digest/file_digest.h"
#include "base/mem.h"

enum {
    SEARCH_VISITS_MAX = 2000000, /* edges followed for all warnings of a flow */
    PATTERN_TESTS_MAX = 200000,  /* comparisons of a pattern with a path */
};

struct written {
    const char *path; /* without "./" */
    uint32_t step, at;
    uint32_t before; /* position of an earlier one with the same path, or NAME_NONE */
};

struct writers {
    struct control_check *c;
    struct written *items;
    size_t count;
    struct name_index by_path; /* position of the last one with a path */
    size_t tests;              /* comparisons with patterns that are left */
};

static const char *plain_text(const char *path)
{
    while (path[0] == '.' && path[1] == '/')
        path += 2 + strspn(path + 2, "/");
    return path;
}

static bool varies(const char *path)
{
    static const char *const references[] = {"$(item", "$(index", "$(attempt"};

    for (size_t i = 0; i < countof(references); i++)
        if (strstr(path, references[i]))
            return true;
    return false;
}

/* Returns whether equal paths of the two steps are the same file. */
static bool same_place(const struct flow_step *a, const struct flow_step *b, const char *path)
{
    const bool scripts = a->run && b->run && !a->patch_spec && !a->patch_job_spec &&
                         !b->patch_spec && !b->patch_job_spec;

    return !varies(path) && (*path == '/' || scripts);
}

/* Returns whether step `a` ends before step `b` starts, or that cannot be told cheaply. */
static bool comes_before(struct control_check *c, uint32_t a, uint32_t b)
{
    struct ancestor_search s = {.c = c, .wanted = a};

    if (flow_step_is_final(&c->spec->steps.items[b]) &&
        !flow_step_is_final(&c->spec->steps.items[a]))
        return true;
    c->mark++;
    return ancestors_search(&s, b) != ANCESTOR_NOT_FOUND;
}

static bool in_order(struct control_check *c, uint32_t a, uint32_t b)
{
    return comes_before(c, a, b) || comes_before(c, b, a);
}

/* Returns whether the step may be left out, so that another may take its place. */
static bool may_be_skipped(const struct control_check *c, uint32_t step)
{
    return c->switch_of[step] || c->spec->steps.items[step].condition;
}

/* Warns if step `b` reads what `w` says and neither waits for the other. Returns whether it did. */
static bool warn_of_read(struct writers *writers, uint32_t b, size_t k, const struct written *w)
{
    struct control_check *c = writers->c;
    const struct flow_step *reader = &c->spec->steps.items[b];
    const struct flow_step *writer = &c->spec->steps.items[w->step];

    if (!same_place(reader, writer, reader->reads.items[k]) || varies(w->path))
        return false;
    if (w->step == b) {
        WARNING(c->adm, ("spec.flows[%u].writes[%u]", b, w->at),
                "step %.64s reads and writes %.256s: it is never reused", reader->name, w->path);
        return true;
    }
    if (in_order(c, w->step, b))
        return false;
    WARNING(c->adm, ("spec.flows[%u].reads[%zu]", b, k),
            "step %.64s reads %.256s, which %.64s writes, and does not depend on %.64s",
            reader->name, w->path, writer->name, writer->name);
    return true;
}

static void check_read(struct writers *writers, uint32_t step, size_t k)
{
    const char *path = plain_text(writers->c->spec->steps.items[step].reads.items[k]);

    if (digest_is_plain(path)) {
        for (uint32_t at = name_index_get(&writers->by_path, path); at != NAME_NONE;
             at = writers->items[at].before)
            if (warn_of_read(writers, step, k, &writers->items[at]))
                return;
        return;
    }
    for (size_t i = 0; i < writers->count && writers->tests; i++, writers->tests--)
        if (fnmatch(path, writers->items[i].path, FNM_PERIOD | FNM_PATHNAME) == 0 &&
            warn_of_read(writers, step, k, &writers->items[i]))
            return;
}

/* Compares a written path with the last earlier one: so each pair of neighbours is named once. */
static void check_write(struct writers *writers, const struct written *w)
{
    struct control_check *c = writers->c;
    const struct flow_step *steps = c->spec->steps.items;
    const struct written *other = w->before == NAME_NONE ? NULL : &writers->items[w->before];

    if (!other || other->step == w->step ||
        !same_place(&steps[w->step], &steps[other->step], w->path) ||
        (may_be_skipped(c, w->step) && may_be_skipped(c, other->step)) ||
        in_order(c, w->step, other->step))
        return;
    WARNING(c->adm, ("spec.flows[%u].writes[%u]", w->step, w->at),
            "steps %.64s and %.64s both write %.256s and may run at the same time",
            steps[other->step].name, steps[w->step].name, w->path);
}

static void collect(struct writers *writers)
{
    const struct jobflow_spec *spec = writers->c->spec;
    size_t count = 0;

    for (size_t i = 0; i < spec->steps.count; i++)
        count += spec->steps.items[i].writes.count;
    writers->items = mem_array(count + 1, sizeof *writers->items);
    name_index_init(&writers->by_path, count);
    for (uint32_t i = 0; i < spec->steps.count; i++)
        for (uint32_t k = 0; k < spec->steps.items[i].writes.count; k++) {
            struct written *w = &writers->items[writers->count];

            *w = (struct written){plain_text(spec->steps.items[i].writes.items[k]), i, k, 0};
            w->before = name_index_put(&writers->by_path, w->path, (uint32_t)writers->count++);
        }
}

void jobflow_warn_of_files(struct control_check *c)
{
    struct writers writers = {.c = c, .tests = PATTERN_TESTS_MAX};
    const uint64_t left = c->visits;

    if (!c->adm->warnings)
        return;
    collect(&writers);
    c->visits = SEARCH_VISITS_MAX;
    for (size_t i = 0; i < writers.count; i++)
        check_write(&writers, &writers.items[i]);
    for (uint32_t i = 0; writers.count && i < c->spec->steps.count; i++)
        for (size_t k = 0; k < c->spec->steps.items[i].reads.count; k++)
            check_read(&writers, i, k);
    c->visits = left;
    name_index_release(&writers.by_path);
    mem_free(writers.items);
}
