/*
 * Checks that each name in a test exists: in the flow, in the templates of its steps, or in its
 * parameters.
 */
#include "cli/flowtest/check.h"

#include <string.h>

#include "api/types/text/doc.h"
#include "api/types/text/suggest.h"
#include "base/mem.h"

/* The steps that a member of a test may name. */
enum step_scope { STEPS, STEPS_AND_ITERATIONS };

struct checking {
    const struct test_file *file;
    const struct flow_view *view;
    const struct manifests *set;
    bool ok;
};

static void unknown(struct checking *c, const char *field, const char *what, const char *name,
                    const struct suggest *near)
{
    test_file_error(c->file, field, "the flow has no %s \"%s\"%s%s%s", what, name,
                    near->word ? "; did you mean \"" : "", near->word ? near->word : "",
                    near->word ? "\"?" : "");
    c->ok = false;
}

/* Returns the index of the step named "shard", also for its iteration "shard-2"; UINT32_MAX when
 * there is none. */
static uint32_t step_of(const struct flow_view *view, const char *name, enum step_scope scope)
{
    const char *dash = strrchr(name, '-');
    uint32_t at = flow_view_find(view, name);
    scoped_str loop = NULL;

    if (at != UINT32_MAX || scope == STEPS || !dash || !dash[1] ||
        dash[1 + strspn(dash + 1, "0123456789")])
        return at;
    loop = mem_printf("%.*s", (int)(dash - name), name);
    at = flow_view_find(view, loop);
    return at != UINT32_MAX && view->steps[at].loops ? at : UINT32_MAX;
}

static bool check_step(struct checking *c, const char *field, const char *name,
                       enum step_scope scope)
{
    struct suggest near = {0};

    if (step_of(c->view, name, scope) != UINT32_MAX)
        return true;
    for (uint32_t i = 0; i < c->view->n_steps; i++)
        suggest_offer(&near, name, c->view->steps[i].name);
    unknown(c, field, "step", name, &near);
    return false;
}

static void check_list(struct checking *c, size_t test, const char *member,
                       const struct str_list *list, enum step_scope scope)
{
    for (size_t i = 0; i < list->count; i++) {
        char field[128];

        snprintf(field, sizeof field, "tests[%zu].expect.%s[%zu]", test, member, i);
        check_step(c, field, list->items[i], scope);
    }
}

static const json_t *template_of(const struct checking *c, const struct flow_view_step *step)
{
    for (size_t i = 0; i < c->set->count && step->template; i++) {
        const char *name = doc_text(c->set->items[i].doc, "metadata.name");

        if (c->set->items[i].kind == &kind_job_template && name &&
            strcmp(name, step->template) == 0)
            return json_object_get(c->set->items[i].doc, "spec");
    }
    return NULL;
}

/* Adds the job's task names as suggestions. A task without a name gets one from its index. */
static bool offer_tasks(const json_t *job_spec, const char *wanted, struct suggest *near)
{
    size_t i;
    json_t *task;

    json_array_foreach(json_object_get(job_spec, "tasks"), i, task)
    {
        const char *name = doc_text(task, "name");
        scoped_str by_place = name ? NULL : mem_printf("default%zu", i);

        if (strcmp(name ? name : by_place, wanted) == 0)
            return true;
        if (name)
            suggest_offer(near, wanted, name);
    }
    return false;
}

/* Only a step with `approve` can be answered. */
static void check_answer(struct checking *c, const char *field, const struct test_mock *mock)
{
    const uint32_t at = flow_view_find(c->view, mock->key);
    const json_t *spec = at == UINT32_MAX ? NULL : flow_view_step_spec(&c->view->steps[at]);
    scoped_str place = mem_printf("%s.approve", field);

    if (mock->body.approve < 0 || json_object_get(spec, "approve"))
        return;
    test_file_error(c->file, place, "step %s has no approve", mock->key);
    c->ok = false;
}

static void check_tasks(struct checking *c, const char *field, const struct test_mock *mock)
{
    uint32_t at = step_of(c->view, mock->key, STEPS_AND_ITERATIONS);
    const json_t *template = template_of(c, &c->view->steps[at]);
    const json_t *steps = json_object_get(json_object_get(c->view->doc, "spec"), "flows");
    const json_t *patch = json_object_get(json_array_get(steps, at), "patch");

    for (size_t i = 0; template && i < mock->body.tasks.count; i++) {
        const char *wanted = mock->body.tasks.items[i].key;
        scoped_str place = mem_printf("%s.tasks.%s", field, wanted);
        struct suggest near = {0};

        if (!offer_tasks(template, wanted, &near) &&
            !offer_tasks(json_object_get(patch, "spec"), wanted, &near) &&
            !offer_tasks(json_object_get(patch, "jobSpec"), wanted, &near))
            unknown(c, place, "task of this step", wanted, &near);
    }
}

static void check_parameter(struct checking *c, size_t test, const char *name)
{
    const json_t *spec = json_object_get(c->view->doc, "spec"), *parameter;
    scoped_str field = mem_printf("tests[%zu].parameters.%s", test, name);
    struct suggest near = {0};
    size_t i;

    json_array_foreach(json_object_get(spec, "parameters"), i, parameter)
    {
        const char *known = doc_text(parameter, "name");

        if (strcmp(known, name) == 0)
            return;
        suggest_offer(&near, name, known);
    }
    unknown(c, field, "parameter", name, &near);
}

static void check_test(struct checking *c, size_t t)
{
    const struct test_case *test = &c->file->cases.items[t];
    char field[256];

    for (size_t i = 0; i < test->parameters.count; i++)
        check_parameter(c, t, test->parameters.items[i].key);
    for (size_t i = 0; i < test->mocks.count; i++) {
        snprintf(field, sizeof field, "tests[%zu].steps.%s", t, test->mocks.items[i].key);
        if (check_step(c, field, test->mocks.items[i].key, STEPS_AND_ITERATIONS))
            check_tasks(c, field, &test->mocks.items[i]);
        check_answer(c, field, &test->mocks.items[i]);
    }
    for (size_t i = 0; i < test->expect.steps.count; i++) {
        snprintf(field, sizeof field, "tests[%zu].expect.steps.%s", t,
                 test->expect.steps.items[i].key);
        check_step(c, field, test->expect.steps.items[i].key, STEPS_AND_ITERATIONS);
    }
    check_list(c, t, "order", &test->expect.order, STEPS_AND_ITERATIONS);
    check_list(c, t, "skipped", &test->expect.skipped, STEPS);
    check_list(c, t, "notRun", &test->expect.not_run, STEPS_AND_ITERATIONS);
}

bool flowtest_check(const struct test_file *file, const struct flow_view *view,
                    const struct manifests *set)
{
    struct checking c = {file, view, set, true};

    for (size_t t = 0; t < file->cases.count; t++)
        check_test(&c, t);
    return c.ok;
}
