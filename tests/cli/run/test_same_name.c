/*
 * Deletes objects and creates them again with the same name while the whole engine runs.
 *
 * A flow of two steps and a separate job run in the simulation. One object, the subject, is deleted
 * at the n-th turn of the loop, for n = 0, 1, 2, … until all work is done. It is created again as
 * soon as it is gone, by the user or by its controller. At the end everything must have completed
 * as if nothing had happened, and nothing of the deleted objects may be left.
 */
#include "tests/unit.h"

#include "api/types/kinds/job/job.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "cli/engine/engine.h"

enum { TIMES = 5, PAUSE_MS = 100, HELD_MS = 3000, LONG_MS = 30 * 60 * 1000 };

#define FINALIZER "tests.jobflow.dev/held"
#define POD_TEMPLATE                                                                               \
    "{'metadata':{'annotations':{'sim.jobflow.dev/duration':'2s'}},"                               \
    "'spec':{'restartPolicy':'Never','containers':[{'name':'c'}]}}"
#define TASKS "'tasks':[{'name':'t','replicas':2,'template':" POD_TEMPLATE "}]"

static const char template_a[] =
    "{'apiVersion':'flow.volcano.sh/v1alpha1','kind':'JobTemplate',"
    "'metadata':{'name':'a','namespace':'default'},'spec':{" TASKS "}}";
static const char flow[] =
    "{'apiVersion':'flow.volcano.sh/v1alpha1','kind':'JobFlow',"
    "'metadata':{'name':'f','namespace':'default'},'spec':{'flows':[{'name':'a'},"
    "{'name':'b','jobTemplateName':'a','dependsOn':{'targets':['a']}}]}}";
static const char job[] = "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job',"
                          "'metadata':{'name':'j','namespace':'default'},'spec':{" TASKS "}}";

struct subject {
    const char *what;
    const struct kind *kind;
    const char *name;
    const char *manifest; /* manifest from which the user creates it again; NULL: its controller
                           * does so */
};

static const struct subject subjects[] = {
    {"flow", &kind_job_flow, "f", flow}, {"template", &kind_job_template, "a", template_a},
    {"job", &kind_job, "j", job},        {"job of a flow", &kind_job, "f-a", NULL},
    {"pod", &kind_pod, "j-t-0", NULL},
};

struct scene {
    const struct subject *subject;
    struct engine *engine;
    struct registry *registry;
    struct loop *loop;
    int at, times; /* the first turn with a deletion; the number of deletions */
    bool held;     /* a finalizer delays the deletion */
    int turn, deletions;
    char uid[64]; /* uid of the object deleted last */
    struct turn_hook hook;
    struct timer timer; /* polls the state of the subject */
};

static json_t *document(const char *text)
{
    scoped_str copy = mem_strdup(text);
    json_t *doc;

    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    doc = json_loads(copy, JSON_REJECT_DUPLICATES, NULL);
    check(text, doc != NULL);
    return doc;
}

static void check_done(const char *what, bool ok, struct error_list *errors)
{
    if (!ok)
        check_fail("%s: %s", what, errors->count ? errors->items[0].message : "no reason");
    error_list_release(errors);
}

static void create(struct scene *scene, const char *manifest)
{
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};
    scoped(json) json_t *doc = document(manifest);
    struct error_list errors = {0};
    const struct object *made;
    bool ok = registry_create(scene->registry, doc, &how, &made, &errors);

    check_done("create", ok, &errors);
    check("another object", strcmp(object_uid(made), scene->uid) != 0);
}

static void patch(struct scene *scene, const char *json)
{
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};
    scoped(json) json_t *doc = document(json);
    struct error_list errors = {0};
    bool ok = registry_patch(
        scene->registry,
        (struct registry_target){scene->subject->kind, "default", scene->subject->name},
        &(struct registry_patch){REGISTRY_PATCH_MERGE, doc}, &how, NULL, &errors);

    check_done(json, ok, &errors);
}

static const struct object *find(const struct scene *scene)
{
    return store_get(engine_store(scene->engine), scene->subject->kind, "default",
                     scene->subject->name);
}

static void delete (struct scene *scene, const struct object *object)
{
    const struct registry_delete how = {.grace_s = 0};
    struct error_list errors = {0};
    bool ok;

    snprintf(scene->uid, sizeof scene->uid, "%s", object_uid(object));
    scene->deletions++;
    if (scene->held)
        patch(scene, "{'metadata':{'finalizers':['" FINALIZER "']}}");
    ok = registry_delete(
        scene->registry,
        (struct registry_target){scene->subject->kind, "default", scene->subject->name}, &how, NULL,
        &errors);
    check_done("delete", ok, &errors);
}

/* Checks the subject's state, does the next action and schedules the next check. */
static void look(struct timer *timer)
{
    struct scene *scene = container_of(timer, struct scene, timer);
    const struct object *object = find(scene);
    bool is_old = object && strcmp(object_uid(object), scene->uid) == 0;

    if (!object && scene->uid[0] && scene->subject->manifest) {
        create(scene, scene->subject->manifest);
    } else if (is_old && scene->held && object_deleting(object)) {
        patch(scene, "{'metadata':{'finalizers':null}}");
    } else if (object && !is_old && scene->deletions < scene->times) {
        delete (scene, object);
        if (scene->held) {
            timer_start(scene->loop, timer, HELD_MS);
            return;
        }
    } else if (object && !is_old) {
        return; /* the subject has been created for the last time */
    }
    timer_start(scene->loop, timer, PAUSE_MS);
}

static void on_turn(struct turn_hook *hook)
{
    struct scene *scene = container_of(hook, struct scene, hook);

    if (scene->turn++ == scene->at)
        timer_start(scene->loop, &scene->timer, 0);
}

static void check_owners(void *arg, const struct object *object)
{
    const struct scene *scene = arg;
    const struct meta *meta = object->meta;

    if (object_deleting(object))
        check_fail("%s, turn %d: %s %s is still being deleted", scene->subject->what, scene->at,
                   object->kind->name, object_name(object));
    for (size_t i = 0; i < meta->n_owners; i++)
        if (!store_get_uid(engine_store(scene->engine), meta->owners[i].uid))
            check_fail("%s, turn %d: the owner of %s %s is gone", scene->subject->what, scene->at,
                       object->kind->name, object_name(object));
}

static void check_end(const struct scene *scene)
{
    const struct store *store = engine_store(scene->engine);
    const struct object *f = store_get(store, &kind_job_flow, "default", "f");
    const struct object *j = store_get(store, &kind_job, "default", "j");
    const char *what = scene->subject->what;

    check(what, f && j);
    if (jobflow_phase_of(f) != FLOW_SUCCEED || job_status_of(j)->phase != JOB_COMPLETED)
        check_fail("%s, turn %d, %d times%s: the flow is %s, the job %s", what, scene->at,
                   scene->times, scene->held ? ", held" : "", flow_phase_text(jobflow_phase_of(f)),
                   job_phase_text(job_status_of(j)->phase));
    for (int id = 0; id < KIND_N; id++)
        store_each(store, kind_by_id((enum kind_id)id), NULL, check_owners, (void *)(size_t)scene);
    for (int i = 0; i < 2; i++) {
        const struct object *made = store_get(store, &kind_job, "default", i ? "f-b" : "f-a");

        check(what, !made || strcmp(meta_controller(made->meta)->uid, object_uid(f)) == 0);
    }
}

/* Returns whether the subject existed and was deleted. */
static bool play(const struct subject *subject, int at, int times, bool held, int *out_turns)
{
    const struct engine_options options = {.sim = true, .controllers = true, .max_pods = 8};
    struct scene scene = {.subject = subject, .at = at, .times = times, .held = held};
    struct error err = {0};

    scene.engine = engine_start(&options, &err);
    check_ok("engine", scene.engine != NULL, err);
    scene.registry = engine_registry(scene.engine);
    scene.loop = engine_loop(scene.engine);
    scene.hook.end = on_turn;
    scene.timer.fire = look;
    create(&scene, template_a);
    create(&scene, flow);
    create(&scene, job);
    loop_on_turn_end(scene.loop, &scene.hook);
    loop_advance(scene.loop, LONG_MS);
    check_end(&scene);
    loop_off_turn_end(scene.loop, &scene.hook);
    timer_stop(scene.loop, &scene.timer);
    engine_stop(scene.engine);
    *out_turns = scene.turn;
    return scene.deletions > 0;
}

/* Returns the distance between tested turns. Under sanitizers only some turns are tested, because
 * they are slow and a memory error does not depend on the exact turn. */
static int turns_apart(void)
{
    const char *mode = getenv("JOBFLOW_MODE");

    return mode && (strcmp(mode, "asan") == 0 || strcmp(mode, "tsan") == 0) ? 8 : 1;
}

/* covers: reliability.md FT-24; see INV-S8, INV-F3, INV-J8 */
static void objects_created_again_at_any_turn_complete(void **state)
{
    for (size_t s = 0; s < countof(subjects); s++)
        for (int held = 0; held < 2; held++)
            for (int times = 1; times <= TIMES; times += TIMES - 1) {
                int turns = 1, deleted = 0;

                for (int at = 0; at < turns; at += turns_apart())
                    deleted += play(&subjects[s], at, times, held, &turns);
                check(subjects[s].what, deleted > 3);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_created_again_at_any_turn_complete),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
