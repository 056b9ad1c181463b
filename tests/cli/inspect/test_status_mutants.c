/*
 * Fuzzes the status of objects: fields are missing or have another type.
 *
 * The whole engine runs a flow when the status of one of its objects is replaced by a mutant
 * through the API. The API refuses the mutant with findings, or the controllers cope with it;
 * either way the engine keeps running.
 *
 * covers: reliability.md FZ-15; see kube-api.md 101
 */
#include "tests/unit.h"

#include "api/store/store.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/text/yaml.h"
#include "cli/engine/engine.h"
#include "tests/support/mutants.h"

static const char manifest[] =
    "apiVersion: flow.volcano.sh/v1alpha1\n"
    "kind: JobTemplate\n"
    "metadata: {name: quick}\n"
    "spec:\n"
    "  tasks:\n"
    "  - {name: m, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, "
    "command: ['true']}]}}}\n"
    "---\n"
    "apiVersion: flow.volcano.sh/v1alpha1\n"
    "kind: JobTemplate\n"
    "metadata: {name: slow}\n"
    "spec:\n"
    "  tasks:\n"
    "  - name: m\n"
    "    replicas: 2\n"
    "    template:\n"
    "      metadata: {annotations: {" ANNOTATION_SIM_DURATION ": 1000h}}\n"
    "      spec: {restartPolicy: Never, containers: [{name: c, command: ['true']}]}\n"
    "---\n"
    "apiVersion: flow.volcano.sh/v1alpha1\n"
    "kind: JobFlow\n"
    "metadata: {name: f}\n"
    "spec:\n"
    "  jobRetainPolicy: retain\n"
    "  flows:\n"
    "  - {name: a, jobTemplateName: quick}\n"
    "  - {name: b, jobTemplateName: slow, dependsOn: {targets: [a]}}\n"
    "  - {name: c, jobTemplateName: slow, dependsOn: {targets: [b]}}\n";

enum { SETTLE_MS = 5000, AFTER_MS = 100, AWAY_MS = 10 * 60 * 1000 };

static const struct subject {
    const struct kind *kind;
    const char *ns, *name;
} subjects[] = {
    {&kind_job_flow, "default", "f"},   {&kind_job, "default", "f-b"},
    {&kind_job, "default", "f-a"},      {&kind_pod, "default", "f-b-m-0"},
    {&kind_pod_group, "default", NULL}, {&kind_job_template, "default", "slow"},
    {&kind_queue, "", "default"},       {&kind_node, "", NULL},
};

struct statuses {
    struct mutants mutants; /* mutants of the whole object in its first state */
    const struct subject *subject;
    char *name;
    struct engine *engine;
    size_t tried, taken;
};

static void create_all(struct registry *registry)
{
    struct error err = {0};
    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(manifest, sizeof manifest - 1, &yaml_limits_default, &err);

    check_ok("manifest", stream != NULL, err);
    for (size_t i = 0; i < yaml_count(stream); i++) {
        scoped(json) json_t *doc = json_incref(yaml_document(stream, i));
        struct error_list errors = {0};
        json_t *metadata = json_object_get(doc, "metadata");

        json_object_set_new(metadata, "namespace", json_string("default"));
        check("created",
              registry_create(registry, doc, &(struct registry_write){0}, NULL, &errors));
        error_list_release(&errors);
    }
}

static struct engine *new_engine(void)
{
    const struct engine_options options = {
        .sim = true, .controllers = true, .no_deletion_protection = true};
    struct error err = {0};
    struct engine *engine = engine_start(&options, &err);

    check_ok("engine", engine != NULL, err);
    create_all(engine_registry(engine));
    loop_advance(engine_loop(engine), SETTLE_MS);
    return engine;
}

static void take_first(void *arg, const struct object *object)
{
    const struct object **first = arg;

    if (!*first)
        *first = object;
}

static const struct object *find(const struct engine *engine, const struct subject *subject,
                                 const char *name)
{
    const struct store *store = engine_store((struct engine *)(uintptr_t)engine);
    const struct object *first = NULL;

    if (name)
        return store_get(store, subject->kind, subject->ns, name);
    store_each(store, subject->kind, *subject->ns ? subject->ns : NULL, take_first, &first);
    return first;
}

/* Returns the object whose status is replaced. The previous mutant may have caused its deletion;
 * then the flow is started again. */
static const struct object *current(struct statuses *s)
{
    const struct object *object = find(s->engine, s->subject, s->name);

    if (object)
        return object;
    engine_stop(s->engine);
    s->engine = new_engine();
    object = find(s->engine, s->subject, s->name);
    check("it is there", object != NULL);
    return object;
}

static void try_status(struct mutants *mutants, const char *what)
{
    struct statuses *s = container_of(mutants, struct statuses, mutants);
    const struct object *now = current(s);
    scoped(json) json_t *doc = object_to_json(now);
    struct error_list errors = {0};
    bool ok;

    json_object_set(doc, "status", json_object_get(mutants->whole, "status"));
    ok = registry_update(engine_registry(s->engine), doc,
                         s->subject->kind->has_status ? REGISTRY_STATUS : REGISTRY_MAIN,
                         &(struct registry_write){0}, NULL, &errors);
    check(what, ok || errors.count);
    for (size_t i = 0; i < errors.count; i++)
        check(what, *errors.items[i].message);
    error_list_release(&errors);
    s->tried++;
    s->taken += ok;
    loop_advance(engine_loop(s->engine), AFTER_MS);
}

static void mutate_status(const struct subject *subject)
{
    struct statuses s = {.mutants.try_it = try_status, .subject = subject, .engine = new_engine()};
    const struct object *object = find(s.engine, subject, subject->name);
    scoped(json) json_t *whole = NULL;
    scoped_str name = NULL;

    check(subject->kind->name, object != NULL);
    name = mem_strdup(object_name(object));
    s.name = name;
    whole = object_to_json(object);
    s.mutants.whole = whole;
    check(subject->kind->name, json_is_object(json_object_get(whole, "status")));
    mutants_walk(&s.mutants, json_object_get(whole, "status"));
    loop_advance(engine_loop(s.engine), AWAY_MS);
    check(subject->kind->name, s.tried > 10 && s.taken > 0);
    engine_stop(s.engine);
}

static void a_status_of_somebody_else_is_refused_or_lived_with(void **state)
{
    for (size_t i = 0; i < countof(subjects); i++)
        mutate_status(&subjects[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_status_of_somebody_else_is_refused_or_lived_with),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
