/*
 * Plugin arguments, the registry of plugins, and what svc makes.
 */
#include "tests/unit.h"

#include "job/plugins/args.h"
#include "job/plugins/plugin.h"
#include "tests/support/manifest.h"

struct read {
    const char *text;
    bool flag;
    int64_t number, port;
};

static const struct job_arg table[] = {
    {"text", ARG_STR, offsetof(struct read, text)},
    {"flag", ARG_BOOL, offsetof(struct read, flag)},
    {"number", ARG_INT, offsetof(struct read, number)},
    {"port", ARG_PORT, offsetof(struct read, port)},
    {0},
};

struct args_case {
    const char *name;
    const char *words[6];
    struct read want;
    size_t ignored;
};

/* covers: see 1.3 O-P04 */
static void arguments_follow_gos_flags(void **unused)
{
    /* clang-format off */
    static const struct args_case cases[] = {
        {"nothing",               {NULL}, {"default", false, 7, 22}},
        {"one dash, equals",      {"-text=a"}, {"a", false, 7, 22}},
        {"two dashes, next word", {"--text", "a"}, {"a", false, 7, 22}},
        {"the last one wins",     {"--text=a", "--text=b"}, {"b", false, 7, 22}},
        {"a flag alone",          {"--flag"}, {"default", true, 7, 22}},
        {"its word is none",      {"--flag", "false", "--number=1"}, {"default", true, 7, 22}},
        {"a flag said so",        {"--flag=T"}, {"default", true, 7, 22}},
        {"hexadecimal",           {"--number=0x1f"}, {"default", false, 31, 22}},
        {"octal",                 {"--number=017"}, {"default", false, 15, 22}},
        {"binary with _",         {"--number=0b1_0"}, {"default", false, 2, 22}},
        {"negative",              {"--number", "-5"}, {"default", false, -5, 22}},
        {"no number",             {"--number=x", "--text=a"}, {"a", false, 7, 22}, 1},
        {"beyond 64 bits",        {"--number=99999999999999999999"}, {"default", false, 7, 22}, 1},
        {"no port",               {"--port=70000", "--flag"}, {"default", true, 7, 22}, 1},
        {"unknown, then known",   {"--no-root", "--flag"}, {"default", true, 7, 22}, 1},
        {"value missing",         {"--text"}, {"default", false, 7, 22}, 1},
        {"stops at a word",       {"word", "--flag"}, {"default", false, 7, 22}},
        {"stops at a dash",       {"-", "--flag"}, {"default", false, 7, 22}},
        {"stops behind --",       {"--", "--flag"}, {"default", false, 7, 22}},
        {"stops at nothing",      {"", "--flag"}, {"default", false, 7, 22}},
        {"three dashes",          {"---flag"}, {"default", false, 7, 22}, 1},
        {"= alone",               {"--=x"}, {"default", false, 7, 22}, 1},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        const struct args_case *c = &cases[i];
        struct read got = {"default", false, 7, 22};
        struct error_list ignored = {0};
        struct str_list words = {(const char **)(uintptr_t)c->words, 0};

        while (words.count < countof(c->words) && c->words[words.count])
            words.count++;
        job_args_read(table, words, &got, &ignored);
        check_str(c->name, got.text, c->want.text);
        check_int(c->name, got.flag, c->want.flag);
        check_int(c->name, got.number, c->want.number);
        check_int(c->name, got.port, c->want.port);
        check_int(c->name, ignored.count, c->ignored);
        error_list_release(&ignored);
    }
}

/* covers: see 1.1 */
static void names_without_a_plugin_are_refused_by_name(void **unused)
{
    struct error err = {0};

    assert_non_null(job_plugin_find("svc", &err));
    assert_null(job_plugin_find("mpi", &err));
    check_has("mpi", err.message, "plugin \"mpi\" is not supported by this version");
    assert_null(job_plugin_find("nope", &err));
    check_has("nope", err.message, "plugin \"nope\" is unknown");
}

static struct job_object_plan plan_of(const struct object *job, const char *const *words,
                                      size_t count)
{
    struct job_object_plan plan = {0};
    const struct job_plugin_job context = {object_namespace(job),
                                           object_name(job),
                                           object_uid(job),
                                           job_spec_of(job),
                                           {(const char **)(uintptr_t)words, count}};

    job_plugin_svc.objects(&context, &plan);
    return plan;
}

static const char train[] = "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: "
                            "train, namespace: ns, uid: u},\n"
                            "spec: {tasks: [{name: ps, replicas: 1, template: {spec: {}}}, {name: "
                            "mpi-worker, replicas: 2, template: {spec: {}}},\n"
                            "{name: fixed, replicas: 3, template: {spec: {hostname: one, "
                            "subdomain: sub}}}, {name: none, replicas: 0, template: {spec: {}}}]}}";

/* covers: see 3.2 */
static void svc_makes_the_host_lists_byte_for_byte(void **unused)
{
    static const struct kv want[] = {
        {"ps.host", "train-ps-0.train"},
        {"VC_PS_HOSTS", "train-ps-0.train"},
        {"VC_PS_NUM", "1"},
        {"mpi_worker.host", "train-mpi-worker-0.train\ntrain-mpi-worker-1.train"},
        {"VC_MPI_WORKER_HOSTS", "train-mpi-worker-0.train,train-mpi-worker-1.train"},
        {"VC_MPI_WORKER_NUM", "2"},
        {"fixed.host", "one.sub"},
        {"VC_FIXED_NUM", "1"},
        {"none.host", ""},
        {"VC_NONE_HOSTS", ""},
        {"VC_NONE_NUM", "0"},
    };
    scoped(object) struct object *job = manifest_raw(train);
    struct job_object_plan plan = plan_of(job, NULL, 0);
    scoped(json) json_t *body =
        json_loadb(plan.items[0].body->text, plan.items[0].body->len, 0, NULL);

    assert_int_equal(plan.count, 3);
    assert_string_equal(plan.items[0].name, "train-svc");
    assert_true(plan.items[0].follow);
    for (size_t i = 0; i < countof(want); i++)
        check_str(want[i].key,
                  json_string_value(json_object_get(json_object_get(body, "data"), want[i].key)),
                  want[i].value);
    assert_string_equal(
        plan.items[1].body->text,
        "{\"spec\":{\"clusterIP\":\"None\",\"selector\":{\"volcano.sh/job-name\":\"train\","
        "\"volcano.sh/job-namespace\":\"ns\"}}}");
    job_object_plan_release(&plan);
}

/* covers: see 3.1 */
static void svc_listens_to_its_arguments(void **unused)
{
    static const char *const words[] = {"--disable-network-policy",
                                        "--publish-not-ready-addresses=true"};
    scoped(object) struct object *job = manifest_raw(train);
    struct job_object_plan plan = plan_of(job, words, countof(words));

    assert_int_equal(plan.count, 2);
    check_has("service", plan.items[1].body->text, "\"publishNotReadyAddresses\":true");
    job_object_plan_release(&plan);
}

/* covers: see O-P10 */
static void a_host_list_beyond_the_kernels_limit_is_left_out(void **unused)
{
    scoped(object) struct object *job =
        manifest_raw("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: train, "
                     "namespace: ns, uid: u},\n"
                     "spec: {tasks: [{name: many, replicas: 9000, template: {spec: {}}}]}}");
    const struct job_plugin_job context = {"ns", "train", "u", job_spec_of(job), {0}};
    struct job_pod_plan plan = {0};
    struct error_list warnings = {0};

    job_plugin_svc.pod(&context, &job_spec_of(job)->tasks.items[0], 0, &plan);
    job_plugin_svc.review(&context, &warnings);
    assert_int_equal(json_array_size(plan.env), 1);
    check_str("left", json_string_value(json_object_get(json_array_get(plan.env, 0), "name")),
              "VC_MANY_NUM");
    assert_int_equal(warnings.count, 1);
    check_has("warning", warnings.items[0].message, "/etc/volcano/VC_MANY_HOSTS");
    error_list_release(&warnings);
    job_pod_plan_release(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_follow_gos_flags),
        cmocka_unit_test(names_without_a_plugin_are_refused_by_name),
        cmocka_unit_test(svc_makes_the_host_lists_byte_for_byte),
        cmocka_unit_test(svc_listens_to_its_arguments),
        cmocka_unit_test(a_host_list_beyond_the_kernels_limit_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
