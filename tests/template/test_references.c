/*
 * Tests template/references: values in templates and patches, where they are quoted, what is refused,
 * and that bodies without references are shared.
 */
#include "tests/unit.h"

#include <string.h>

#include "template/references.h"

#define POD(container)                                                                             \
    "{\"spec\":{\"queue\":\"q\",\"tasks\":[{\"name\":\"main\",\"replicas\":1,\"template\":{"       \
    "\"spec\":{\"containers\":[" container "]}}}]}}"
#define PATCH(container)                                                                           \
    "{\"tasks\":[{\"name\":\"main\",\"template\":{\"spec\":{\"containers\":[" container "]}}}]}"

/* Each value is "<kind>$(TOKEN)"; an output is not known. */
static bool value_of(void *ctx, const struct flow_ref *ref, struct buf *out, bool *out_leave,
                     struct error *err)
{
    if (ref->kind == FLOW_REF_OUTPUT)
        return error_set(err, ERR_NOT_FOUND, "", "no such output");
    if (ref->kind == FLOW_REF_PARAMETER && ref->name_len == 1 && *ref->name == 'n')
        buf_str(out, "3");
    else
        buf_str(out, "v$(TOKEN)$");
    return true;
}

static const struct flow_ref_values values = {value_of, NULL};

static struct object *template_of(const char *body)
{
    const struct meta draft = {.namespace = "default", .name = "t", .uid = ""};

    return object_new(&kind_job_template, meta_new(&draft), blob_new(body, strlen(body)), NULL);
}

static struct blob *body_of(struct template_cache *cache, const char *template_body,
                            const char *patch_text, struct error *err)
{
    scoped(object) struct object *template = template_of(template_body);
    scoped(json) json_t *spec = patch_text ? json_loads(patch_text, 0, NULL) : NULL;
    scoped(template_resolved) struct template_resolved resolved = {0};
    struct template_patch patch = {.spec = spec};

    if (!template_resolve(cache, template, &patch, &values, &resolved, err))
        return NULL;
    return template_instantiate(cache, template, &patch, err);
}

/* covers: see everyday.md 3.2 and DC-26 */
static void values_are_text_where_they_stand(void **state)
{
    static const struct {
        const char *template, *patch, *has;
    } rows[] = {
        /* clang-format off */
        {POD("{\"name\":\"c\",\"command\":[\"echo\",\"<$(params.x)>\"]}"), NULL, "\"<v$$(TOKEN)$$>\""},
        {POD("{\"name\":\"c\",\"args\":[\"$(item)\"]}"), NULL, "[\"v$$(TOKEN)$$\"]"},
        {POD("{\"name\":\"c\",\"env\":[{\"name\":\"A\",\"value\":\"$(params.x)\"}]}"), NULL, "\"value\":\"v$$(TOKEN)$$\""},
        {POD("{\"name\":\"c\",\"volumeMounts\":[{\"mountPath\":\"/m\",\"subPathExpr\":\"$(params.x)\"}]}"), NULL, "\"subPathExpr\":\"v$$(TOKEN)$$\""},
        {POD("{\"name\":\"c\",\"image\":\"$(params.x)\"}"), NULL, "\"image\":\"v$(TOKEN)$\""},
        {POD("{\"name\":\"c\",\"livenessProbe\":{\"exec\":{\"command\":[\"test\",\"$(params.x)\"]}}}"), NULL, "\"test\",\"v$(TOKEN)$\""},
        {POD("{\"name\":\"c\",\"args\":[\"$$(params.x) $(HOME)\"]}"), NULL, "\"$$(params.x) $(HOME)\""},
        {POD("{\"name\":\"c\",\"image\":\"$$(params.x)\"}"), NULL, "\"image\":\"$(params.x)\""},
        {POD("{\"name\":\"c\"}"), PATCH("{\"name\":\"c\",\"args\":[\"$(params.x)\"]}"), "[\"v$$(TOKEN)$$\"]"},
        {POD("{\"name\":\"c\",\"args\":[\"$(params.x)\"]}"), PATCH("{\"name\":\"c\",\"image\":\"$(params.x)\"}"), "\"image\":\"v$(TOKEN)$\""},
        {POD("{\"name\":\"c\"}"), "{\"tasks\":[{\"name\":\"main\",\"replicas\":\"$(params.n)\"}]}", "\"replicas\":3"},
        /* clang-format on */
    };

    for (size_t i = 0; i < countof(rows); i++) {
        struct template_cache *cache = template_cache_new();
        struct error err = {0};
        scoped(blob) struct blob *body = body_of(cache, rows[i].template, rows[i].patch, &err);

        check_str(rows[i].template, err.message, "");
        check_has(rows[i].template, body ? body->text : "", rows[i].has);
        template_cache_free(cache);
    }
}

static void what_cannot_be_replaced_is_refused(void **state)
{
    static const struct {
        const char *template, *patch;
        enum error_code code;
        const char *field, *has;
    } rows[] = {
        /* clang-format off */
        {POD("{\"name\":\"c\",\"args\":[\"$(steps.a.outputs.k)\"]}"), NULL, ERR_NOT_FOUND, "job template t", "no such output"},
        {POD("{\"name\":\"c\"}"), PATCH("{\"name\":\"c\",\"args\":[\"$(steps.a.outputs.k)\"]}"), ERR_NOT_FOUND, "patch.spec", "no such output"},
        {POD("{\"name\":\"c\",\"command\":[\"sh\",\"-c\",\"$(params.x)\"]}"), NULL, ERR_INVALID, "", "containers[0].command[2]: $(params.x) is not pasted"},
        {POD("{\"name\":\"c\",\"command\":[\"sh\",\"-c\"]}"), PATCH("{\"name\":\"c\",\"args\":[\"$(params.x)\"]}"), ERR_INVALID, "", "containers[0].args[0]: $(params.x) is not pasted"},
        {POD("{\"name\":\"c\",\"args\":[\"$(params.x)\"]}"), PATCH("{\"name\":\"c\",\"command\":[\"sh\",\"-c\"]}"), ERR_INVALID, "", "containers[0].args[0]: $(params.x) is not pasted"},
        {POD("{\"name\":\"c\"}"), "{\"tasks\":[{\"name\":\"main\",\"replicas\":\"$(params.x)\"}]}", ERR_INVALID, "patch.spec", "replicas: \"v$(TOKEN)$\", which $(params.x) stands for, is no integer"},
        /* clang-format on */
    };

    for (size_t i = 0; i < countof(rows); i++) {
        struct template_cache *cache = template_cache_new();
        struct error err = {0};

        assert_null(body_of(cache, rows[i].template, rows[i].patch, &err));
        check_int(rows[i].template, err.code, rows[i].code);
        check_str(rows[i].template, err.field, rows[i].field);
        check_has(rows[i].template, err.message, rows[i].has);
        template_cache_free(cache);
    }
}

/* A patch that makes a script harmless decides: it replaces what the template says. */
static void what_is_replaced_by_a_patch_is_no_script(void **state)
{
    struct template_cache *cache = template_cache_new();
    struct error err = {0};
    scoped(blob) struct blob *body =
        body_of(cache, POD("{\"name\":\"c\",\"command\":[\"sh\",\"-c\",\"$(params.x)\"]}"),
                PATCH("{\"name\":\"c\",\"command\":[\"echo\",\"$(params.x)\"]}"), &err);

    check_str("no error", err.message, "");
    check("a body", body != NULL);
    template_cache_free(cache);
}

/* Ten thousand steps of a template without references share one body; the container's own
 * expansions are no references. */
static void bodies_without_references_are_shared(void **state)
{
    const struct flow_scheduling scheduling = {.queue = "other"};
    struct template_cache *cache = template_cache_new();
    scoped(object) struct object *template =
        template_of(POD("{\"name\":\"c\",\"args\":[\"$(HOME) $(date)\"]}"));
    scoped(blob) struct blob *owner = blob_new("{}", 2);
    scoped(blob) struct blob *first = NULL;

    for (uint32_t step = 0; step < 10000; step++) {
        struct template_patch patch = {.owner = owner, .step = step, .scheduling = &scheduling};
        scoped(template_resolved) struct template_resolved resolved = {0};

        assert_true(template_resolve(cache, template, &patch, &values, &resolved, NULL));
        assert_null(resolved.template_spec);
        scoped(blob) struct blob *body = template_instantiate(cache, template, &patch, NULL);

        if (!first)
            first = blob_ref(body);
        assert_ptr_equal(body, first);
    }
    check_has("the flow's queue", first->text, "\"queue\":\"other\"");
    template_cache_free(cache);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_text_where_they_stand),
        cmocka_unit_test(what_cannot_be_replaced_is_refused),
        cmocka_unit_test(what_is_replaced_by_a_patch_is_no_script),
        cmocka_unit_test(bodies_without_references_are_shared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
