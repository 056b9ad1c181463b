/*
 * Tests what answers to writes mean, and what follows when there was none.
 */
#include "tests/unit.h"

#include "api/cluster_remote/outcome.h"
#include "api/types/kinds/jobflow/jobflow.h"

static void answers_have_outcomes(void **state)
{
    static const struct {
        const char *name;
        enum write_verb verb;
        int status;
        bool sent;
        const char *text;
        enum outcome outcome;
        enum error_code code;
    } cases[] = {
        {"done", WRITE_CREATE, 201, true, "{}", OUTCOME_DONE, ERR_NONE},
        {"taken name", WRITE_CREATE, 409, true, "{\"reason\":\"AlreadyExists\",\"message\":\"m\"}",
         OUTCOME_EXISTS, ERR_EXISTS},
        {"newer version", WRITE_STATUS, 409, true, "{\"reason\":\"Conflict\",\"message\":\"m\"}",
         OUTCOME_CONFLICT, ERR_CONFLICT},
        {"a quota is being counted", WRITE_CREATE, 409, true,
         "{\"reason\":\"Conflict\",\"message\":\"m\"}", OUTCOME_TRANSIENT, ERR_CONFLICT},
        {"no object", WRITE_UPDATE, 404, true, "{\"reason\":\"NotFound\",\"message\":\"m\"}",
         OUTCOME_NOT_FOUND, ERR_NOT_FOUND},
        {"no right", WRITE_CREATE, 403, true, "{\"reason\":\"Forbidden\",\"message\":\"m\"}",
         OUTCOME_REFUSED, ERR_FORBIDDEN},
        {"invalid", WRITE_CREATE, 422, true, "{\"reason\":\"Invalid\",\"message\":\"m\"}",
         OUTCOME_REFUSED, ERR_INVALID},
        {"a webhook says no", WRITE_CREATE, 400, true,
         "{\"message\":\"admission webhook \\\"x\\\" denied the request: m\"}", OUTCOME_REFUSED,
         ERR_BAD_REQUEST},
        {"a webhook is down", WRITE_CREATE, 500, true,
         "{\"reason\":\"InternalError\",\"message\":\"failed calling webhook\"}", OUTCOME_TRANSIENT,
         ERR_UNAVAILABLE},
        {"overloaded", WRITE_CREATE, 429, true,
         "{\"reason\":\"TooManyRequests\",\"message\":\"m\"}", OUTCOME_TRANSIENT, ERR_UNAVAILABLE},
        {"etcd's limit", WRITE_CREATE, 500, true,
         "{\"message\":\"etcdserver: request is too large\"}", OUTCOME_REFUSED, ERR_TOO_LARGE},
        {"the server's limit", WRITE_CREATE, 413, true, "{\"message\":\"m\"}", OUTCOME_REFUSED,
         ERR_TOO_LARGE},
        {"etcd is slow", WRITE_CREATE, 500, true, "{\"message\":\"etcdserver: request timed out\"}",
         OUTCOME_UNKNOWN, ERR_UNAVAILABLE},
        {"a gateway gives up", WRITE_REMOVE, 504, true, "no JSON", OUTCOME_UNKNOWN,
         ERR_UNAVAILABLE},
        {"not reached", WRITE_CREATE, 0, false, NULL, OUTCOME_TRANSIENT, ERR_UNAVAILABLE},
        {"no answer", WRITE_CREATE, 0, true, NULL, OUTCOME_UNKNOWN, ERR_UNAVAILABLE},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf text = {0};
        const struct outcome_answer answer = {cases[i].status, cases[i].sent, &text};
        const struct error none = {ERR_TIMEOUT, "", "no answer"};
        struct error err = {0};

        buf_str(&text, cases[i].text ? cases[i].text : "");
        check_int(cases[i].name,
                  outcome_of(cases[i].verb, &answer, cases[i].text ? NULL : &none, &err),
                  cases[i].outcome);
        check_int(cases[i].name, err.code, cases[i].code);
    }
}

struct made {
    const struct kind *kind;
    const char *uid, *owner, *mark; /* mark: the attempt of a job, the version of a pod */
    int64_t revision;
    bool deleting;
    const char *status;
};

static struct object *make(const struct made *made)
{
    const char *key = made->kind == &kind_pod ? "volcano.sh/job-version" : ANNOTATION_FLOW_ATTEMPT;
    const struct kv annotation = {key, made->mark};
    const struct owner_ref owner = {"v1", "X", "o", made->owner, true, false};
    const struct meta draft = {.namespace = "default",
                               .name = "n",
                               .uid = made->uid ? made->uid : "",
                               .deletion_grace_s = -1,
                               .deleted_at_ms = made->deleting ? 1000 : 0,
                               .owners = &owner,
                               .n_owners = made->owner != NULL,
                               .annotations = &annotation,
                               .n_annotations = made->mark != NULL};
    struct object *object =
        object_new(made->kind ? made->kind : &kind_job, meta_new(&draft), blob_intern("{}", 2),
                   made->status ? blob_new(made->status, strlen(made->status)) : NULL);

    object->revision = made->revision;
    return object;
}

static void only_the_same_incarnation_is_adopted(void **state)
{
    static const struct {
        const char *name;
        struct made draft, found;
        enum resolution resolution;
    } cases[] = {
        {"ours", {.owner = "f"}, {.owner = "f"}, RESOLVED_DONE},
        {"the first attempt has a mark or none",
         {.owner = "f", .mark = "1"},
         {.owner = "f"},
         RESOLVED_DONE},
        {"another owner's", {.owner = "f"}, {.owner = "g"}, RESOLVED_EXISTS},
        {"without an owner", {.owner = "f"}, {.uid = "x"}, RESOLVED_EXISTS},
        {"we have no owner", {.uid = ""}, {.owner = "f"}, RESOLVED_EXISTS},
        {"being removed", {.owner = "f"}, {.owner = "f", .deleting = true}, RESOLVED_EXISTS},
        {"an earlier attempt", {.owner = "f", .mark = "2"}, {.owner = "f"}, RESOLVED_OLDER},
        {"a later attempt",
         {.owner = "f", .mark = "2"},
         {.owner = "f", .mark = "3"},
         RESOLVED_EXISTS},
        {"an earlier version of a pod",
         {.kind = &kind_pod, .owner = "j", .mark = "1"},
         {.kind = &kind_pod, .owner = "j", .mark = "0"},
         RESOLVED_OLDER},
        {"the same version of a pod",
         {.kind = &kind_pod, .owner = "j", .mark = "1"},
         {.kind = &kind_pod, .owner = "j", .mark = "1"},
         RESOLVED_DONE},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(object) struct object *draft = make(&cases[i].draft);
        scoped(object) struct object *found = make(&cases[i].found);

        check_int(cases[i].name, outcome_adopt(draft, found), cases[i].resolution);
    }
}

static void reading_resolves_what_is_unknown(void **state)
{
    static const struct {
        const char *name;
        enum write_verb verb;
        bool exists;
        struct made found;
        enum resolution resolution;
    } cases[] = {
        {"created", WRITE_CREATE, true, {.owner = "f"}, RESOLVED_DONE},
        {"not created", WRITE_CREATE, false, {0}, RESOLVED_AGAIN},
        {"created by another", WRITE_CREATE, true, {.owner = "g"}, RESOLVED_EXISTS},
        {"status as sent",
         WRITE_STATUS,
         true,
         {.uid = "u", .revision = 6, .status = "{\"a\":1}"},
         RESOLVED_DONE},
        {"status as before",
         WRITE_STATUS,
         true,
         {.uid = "u", .revision = 5, .status = "{\"a\":0}"},
         RESOLVED_AGAIN},
        {"status of another",
         WRITE_STATUS,
         true,
         {.uid = "u", .revision = 6, .status = "{\"a\":2}"},
         RESOLVED_CONFLICT},
        {"status of a new object",
         WRITE_STATUS,
         true,
         {.uid = "v", .revision = 6},
         RESOLVED_CONFLICT},
        {"removed", WRITE_REMOVE, false, {0}, RESOLVED_DONE},
        {"replaced", WRITE_REMOVE, true, {.uid = "v"}, RESOLVED_DONE},
        {"being removed", WRITE_REMOVE, true, {.uid = "u", .deleting = true}, RESOLVED_DONE},
        {"not removed", WRITE_REMOVE, true, {.uid = "u"}, RESOLVED_AGAIN},
    };
    static const char sent[] = "{\"a\":1}";

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(object) struct object *draft = make(&(const struct made){.owner = "f"});
        scoped(object) struct object *found = make(&cases[i].found);
        scoped(blob) struct blob *status = blob_new(sent, strlen(sent));
        char uid[] = "u";
        const struct write write = {.verb = cases[i].verb,
                                    .object = draft,
                                    .uid = cases[i].verb == WRITE_CREATE ? NULL : uid,
                                    .revision = 5,
                                    .status = status};

        check_int(cases[i].name, outcome_resolve(&write, cases[i].exists ? found : NULL),
                  cases[i].resolution);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_have_outcomes),
        cmocka_unit_test(only_the_same_incarnation_is_adopted),
        cmocka_unit_test(reading_resolves_what_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
