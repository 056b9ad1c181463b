#include "tests/unit.h"

#include "cli/client/resource.h"

struct resource_case {
    const char *words; /* words of the command line, separated by blanks */
    const char *want;  /* expected results, separated by blanks; NULL: refused */
    const char *message;
};

static const struct resource_case cases[] = {
    {"jf", "jobflow.flow.volcano.sh/*", NULL},
    {"JobFlow", "jobflow.flow.volcano.sh/*", NULL},
    {"jf x y", "jobflow.flow.volcano.sh/x jobflow.flow.volcano.sh/y", NULL},
    {"jf/x", "jobflow.flow.volcano.sh/x", NULL},
    {"jf/x pod/p", "jobflow.flow.volcano.sh/x pod/p", NULL},
    {"jf,jt", "jobflow.flow.volcano.sh/* jobtemplate.flow.volcano.sh/*", NULL},
    {"jf,jt x", "jobflow.flow.volcano.sh/x jobtemplate.flow.volcano.sh/x", NULL},
    {"vcjob", "job.batch.volcano.sh/*", NULL},
    {"job/x", "job.batch.volcano.sh/x", NULL},
    {"jobs.batch.volcano.sh", "job.batch.volcano.sh/*", NULL},
    {"po", "pod/*", NULL},
    {"all",
     "jobflow.flow.volcano.sh/* jobtemplate.flow.volcano.sh/* flowtrigger.flow.volcano.sh/* "
     "cronjob.batch.volcano.sh/* "
     "job.batch.volcano.sh/* "
     "podgroup.scheduling.volcano.sh/* pod/* service/*",
     NULL},
    {"zzz", NULL, "resource type \"zzz\"; a flow of that name is written jf/zzz"},
    {"zzz x", NULL, "the server doesn't have a resource type \"zzz\""},
    {"jobflos", NULL, "did you mean \"jobflows\"?"},
    {"jf/x y", NULL, "resource/name form"},
    {"jf x/y", NULL, "names have no slash"},
    {"jf/", NULL, "not of the form KIND/NAME"},
    {"jf/x/y", NULL, "not of the form KIND/NAME"},
    {"/x", NULL, "not of the form KIND/NAME"},
    {",", NULL, "names no kind"},
    {"", NULL, "say what"},
};

static void words_name_kinds_and_objects(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        const struct resource_case *c = &cases[i];
        scoped(resources) struct resources resources = {0};
        scoped(buf) struct buf got = {0};
        scoped_str text = mem_strdup(c->words);
        char *words[8], *rest = NULL;
        struct error err = {0};
        int n = 0;
        bool ok;

        for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
            words[n++] = word;
        ok = resources_parse(n, words, &resources, &err);
        if (!c->want) {
            check(c->words, !ok);
            check_has(c->words, err.message, c->message);
            continue;
        }
        check_ok(c->words, ok, err);
        for (size_t j = 0; j < resources.count; j++) {
            buf_str(&got, j ? " " : "");
            resource_write_name(resources.items[j].kind,
                                resources.items[j].name ? resources.items[j].name : "*", &got);
        }
        check_str(c->words, got.data, c->want);
        check_int(c->words, resources.many_kinds, strstr(c->want, " ") && !strstr(c->words, "x y"));
    }
}

static void paths_are_encoded(void **state)
{
    scoped(buf) struct buf path = {0};

    resource_write_path(&kind_job_flow, "a b", "x/../y", &path);
    resource_write_query("labelSelector", "a in (x,y)", &path);
    resource_write_query("empty", "", &path);
    resource_write_query("limit", "5", &path);
    check_str("path", path.data,
              "/apis/flow.volcano.sh/v1alpha1/namespaces/a%20b/jobflows/x%2F..%2Fy"
              "?labelSelector=a%20in%20%28x%2Cy%29&limit=5");
    buf_clear(&path);
    resource_write_path(&kind_node, "ignored", NULL, &path);
    check_str("cluster", path.data, "/api/v1/nodes");
    buf_clear(&path);
    resource_write_path(&kind_pod, NULL, NULL, &path);
    check_str("everywhere", path.data, "/api/v1/pods");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_name_kinds_and_objects),
        cmocka_unit_test(paths_are_encoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
