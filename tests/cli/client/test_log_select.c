/* Tests which logs are printed, and in which order, when earlier pods had the same names. */
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/text/json_text.h"
#include "base/buf.h"
#include "base/mem.h"
#include "cli/client/log_select.h"

/* A pod that exists or, with `kept`, one that is gone. `start` is a second of the minute. */
struct made {
    const char *pod, *uid, *job, *job_uid;
    int start, attempt;
    bool kept;
    int restarts;
    int rank;
};

static json_t *parse(const char *text)
{
    json_t *doc = json_loads(text, 0, NULL);

    if (!doc)
        check_fail("no JSON: %s", text);
    return doc;
}

static void add(struct log_select *select, const struct made *made)
{
    scoped_str pod = mem_printf(
        "{\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\",\"labels\":{\"volcano.sh/job-name\":\"%s\"},"
        "\"ownerReferences\":[{\"uid\":\"%s\",\"controller\":true}]},\"status\":{\"startTime\":"
        "\"2026-01-02T03:04:%02dZ\",\"containerStatuses\":[{\"name\":\"c\",\"restartCount\":%d,"
        "\"state\":{\"running\":{}}},{\"name\":\"waits\",\"state\":{\"waiting\":{}}}]}}",
        made->pod, made->uid, made->job, made->job_uid, made->start, made->restarts);
    scoped_str log = mem_printf(
        "{\"metadata\":{\"name\":\"%s.%s\"},\"status\":{\"pod\":\"%s\",\"uid\":\"%s\",\"job\":"
        "\"%s\",\"jobUID\":\"%s\",\"attempt\":%d,\"startTime\":\"2026-01-02T03:04:%02dZ\","
        "\"containers\":[{\"name\":\"c\",\"restarts\":%d}]}}",
        made->pod, made->uid, made->pod, made->uid, made->job, made->job_uid, made->attempt,
        made->start, made->restarts);
    scoped_str job = mem_printf("{\"metadata\":{\"uid\":\"%s\",\"annotations\":{"
                                "\"volcano.sh/jobFlowAttempt\":\"%d\"}}}",
                                made->job_uid, made->attempt);
    scoped(json) json_t *doc = parse(made->kept ? log : pod), *job_doc = parse(job);

    if (made->kept) {
        log_select_add_kept(select, doc, made->rank);
        return;
    }
    log_select_add_job(select, job_doc);
    log_select_add_pod(select, doc, made->rank);
}

/* Notes the uid of each selected log, with a minus for one of an earlier run. */
static void note(void *ctx, const struct log_source *source, const struct log_container *container,
                 bool earlier_run)
{
    struct buf *out = ctx;

    check_str("container", container->name, "c");
    buf_printf(out, "%s%s ", source->uid, earlier_run ? "-" : "");
}

/* clang-format off */
static const struct made retried[] = {
    {"f-a-0", "now", "f-a", "j2", 20, 2},
    {"f-a-0", "old", "f-a", "j1", 10, 1, .kept = true},
    {"f-a-1", "old1", "f-a", "j1", 10, 1, .kept = true},
    {"f-b-0", "b",   "f-b", "k1", 5, 1},
};
static const struct made interrupted[] = {
    {"f-a-0", "first", "f-a", "j1", 10, 1, .kept = true},
    {"f-a-0", "second", "f-a", "j2", 20, 2, .kept = true},
    {"f-a-0", "third", "f-a", "j3", 20, 3, .kept = true},
};
static const struct made replaced[] = {
    {"j-0", "new", "j", "j1", 20, 1, .restarts = 0},
    {"j-0", "before", "j", "j1", 10, 1, .kept = true},
    {"j-1", "again", "j", "j1", 10, 1, .restarts = 2},
    {"j-0", "new", "j", "j1", 20, 1, .kept = true}, /* the pod is the same, but its job is gone */
};
static const struct made tied[] = {
    {"f-z-10", "z10", "f-z", "z", 10, 1, .rank = 1},
    {"f-z-9",  "z9",  "f-z", "z", 10, 1, .rank = 1},
    {"f-a-0",  "a",   "f-a", "a", 10, 1, .rank = 2},
    {"f-b-0",  "b",   "f-b", "b", 9,  1, .rank = 3, .kept = true},
};
static const struct made free_pods[] = {
    {"p", "p1", "", "", 10, 0},
    {"q", "q1", "", "", 9,  0},
};

static const struct {
    const char *name;
    const struct made *made;
    size_t count;
    int64_t attempt;
    bool previous;
    const char *chosen;
} cases[] = {
    {"the newest attempt",                  retried, countof(retried), 0, false, "b now "},
    {"the first attempt",                   retried, countof(retried), 1, false, "b old old1 "},
    {"the second attempt",                  retried, countof(retried), 2, false, "now "},
    {"no third attempt",                    retried, countof(retried), 3, false, ""},
    {"the pod before",                      retried, countof(retried), 0, true, "old "},
    {"the newest of those that are gone",   interrupted, countof(interrupted), 0, false, "third "},
    {"the one before it",                   interrupted, countof(interrupted), 0, true, "second "},
    {"the pods of a job that replaced one", replaced, countof(replaced), 0, false, "again new "},
    {"earlier runs before earlier pods",    replaced, countof(replaced), 0, true, "before again- "},
    {"pods of one second",                  tied, countof(tied), 0, false, "b z9 z10 a "},
    {"pods without a job",                  free_pods, countof(free_pods), 0, false, "q1 p1 "},
};
/* clang-format on */

static void the_newest_pod_of_each_name_is_chosen_in_order_of_time(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(log_select) struct log_select select = {0};
        scoped(buf) struct buf chosen = {0};

        for (size_t k = 0; k < cases[i].count; k++)
            add(&select, &cases[i].made[k]);
        log_select_choose(&select, cases[i].attempt, cases[i].previous, note, &chosen);
        check_str(cases[i].name, chosen.data ? chosen.data : "", cases[i].chosen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_pod_of_each_name_is_chosen_in_order_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
