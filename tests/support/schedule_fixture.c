/*
 * Runs the controllers of schedules on a registry in memory, and plays user and job controller.
 */
#include "tests/support/schedule_fixture.h"
#include "tests/unit.h"

#include <stdio.h>
#include <unistd.h>

#include "api/types/text/yaml.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "tests/support/look.h"

/* Notes what a controller has made or deleted. Returns whether it was made. */
static bool note(struct schedule_fixture *fixture, enum cluster_change change,
                 const struct object *object)
{
    if (change == CHANGE_DELETED)
        buf_printf(&fixture->deleted, "%s ", object_name(object));
    if (change != CHANGE_ADDED)
        return false;
    buf_printf(&fixture->made, "%s ", object_name(object));
    fixture->made_count++;
    if (fixture->on_made)
        fixture->on_made(fixture, object);
    return true;
}

static void on_job(struct cluster_watcher *watcher, enum cluster_change change,
                   const struct object *old, const struct object *job)
{
    struct schedule_fixture *fixture = container_of(watcher, struct schedule_fixture, jobs);

    if (note(fixture, change, job) && fixture->succeed)
        cluster_update_status(fixture->backend, NULL, job,
                              job_status_blob(&(struct job_status){
                                  .phase = JOB_COMPLETED,
                                  .transition_ms = loop_wall_ms(fixture->loop),
                                  .running_duration_ns = -1,
                              }));
}

static struct blob *flow_status(enum flow_phase phase)
{
    struct buf text = {0};

    buf_printf(&text,
               "{\"state\":{\"phase\":\"%s\"},\"nodes\":[{\"name\":\"s\",\"phase\":\"Completed\","
               "\"outputs\":{\"k\":\"value\"}}]}",
               flow_phase_text(phase));
    return blob_from_buf(&text);
}

static void on_flow(struct cluster_watcher *watcher, enum cluster_change change,
                    const struct object *old, const struct object *flow)
{
    struct schedule_fixture *fixture = container_of(watcher, struct schedule_fixture, flows);

    if (meta_controller(flow->meta) && note(fixture, change, flow) && fixture->succeed)
        cluster_update_status(fixture->backend, NULL, flow, flow_status(FLOW_SUCCEED));
}

static int64_t instant_ms(const char *text)
{
    int64_t ms = 0;
    struct error err = {0};

    check_ok(text, time_parse(text, &ms, &err), err);
    return ms;
}

struct schedule_fixture *schedule_fixture_new(const char *start)
{
    struct schedule_fixture *fixture = mem_alloc(sizeof *fixture);
    const struct registry_options rules = {
        .virtual_runtime = true, .flows.deletion_protection = true, .flows.reject_updates = true};
    const struct store_options memory = {0};
    struct error err = {0};

    log_to(STDERR_FILENO, LOG_ERROR, LOG_TEXT);
    fixture->clock = clock_virtual_new(instant_ms(start), 1);
    fixture->loop = loop_new(fixture->clock);
    fixture->store = store_open(fixture->loop, &memory, &err);
    check_ok("store", fixture->store != NULL, err);
    fixture->registry = registry_new(fixture->loop, fixture->store, &rules);
    fixture->backend = cluster_embedded_new(fixture->loop, fixture->registry);
    fixture->cluster = faulty_new(fixture->backend);
    fixture->jobs = (struct cluster_watcher){on_job, &kind_job};
    fixture->flows = (struct cluster_watcher){on_flow, &kind_job_flow};
    cluster_watch(fixture->backend, &fixture->jobs);
    cluster_watch(fixture->backend, &fixture->flows);
    loop_settle(fixture->loop);
    schedule_fixture_start(fixture);
    return fixture;
}

void schedule_fixture_free(struct schedule_fixture *fixture)
{
    schedule_fixture_stop(fixture);
    cluster_unwatch(fixture->backend, &fixture->jobs);
    cluster_unwatch(fixture->backend, &fixture->flows);
    loop_settle(fixture->loop);
    faulty_free(fixture->cluster);
    cluster_embedded_free(fixture->backend);
    registry_free(fixture->registry);
    store_close(fixture->store);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
    buf_release(&fixture->made);
    buf_release(&fixture->deleted);
    mem_free(fixture);
}

void schedule_fixture_stop(struct schedule_fixture *fixture)
{
    cronjob_controller_stop(take(fixture->cronjobs));
    flowtrigger_controller_stop(take(fixture->triggers));
    loop_settle(fixture->loop);
}

void schedule_fixture_start(struct schedule_fixture *fixture)
{
    const struct flowtrigger_options triggers = {fixture->options.upstream_compat};

    fixture->cronjobs = cronjob_controller_start(fixture->cluster, &fixture->options);
    fixture->triggers = flowtrigger_controller_start(fixture->cluster, &triggers);
    loop_settle(fixture->loop);
}

void schedule_fixture_restart(struct schedule_fixture *fixture)
{
    schedule_fixture_stop(fixture);
    schedule_fixture_start(fixture);
}

void schedule_fixture_advance(struct schedule_fixture *fixture, int64_t ms)
{
    loop_advance(fixture->loop, ms);
}

void schedule_fixture_until(struct schedule_fixture *fixture, const char *time)
{
    loop_advance(fixture->loop, instant_ms(time) - loop_wall_ms(fixture->loop));
}

void schedule_fixture_sleep(struct schedule_fixture *fixture, int64_t ms)
{
    schedule_fixture_stop(fixture);
    loop_advance(fixture->loop, ms);
    schedule_fixture_start(fixture);
}

static bool write_document(struct schedule_fixture *fixture, json_t *doc,
                           struct error_list *warnings, struct error_list *errors)
{
    const struct registry_write how = {.unknown = UNKNOWN_ERROR, .warnings = warnings};
    json_t *metadata = json_object_get(doc, "metadata");
    const char *name = json_string_value(json_object_get(metadata, "name"));
    const struct kind *kind = kind_by_gvk(json_string_value(json_object_get(doc, "apiVersion")),
                                          json_string_value(json_object_get(doc, "kind")));

    json_object_set_new(metadata, "namespace", json_string("default"));
    if (store_get(fixture->store, kind, "default", name))
        return registry_update(fixture->registry, doc, REGISTRY_MAIN, &how, NULL, errors);
    return registry_create(fixture->registry, doc, &how, NULL, errors);
}

/* Writes all documents; returns the findings of `errors`, or of `warnings`, as lines. Owned. */
static char *write_all(struct schedule_fixture *fixture, const char *yaml, bool want_warnings,
                       bool *out_good)
{
    struct error_list errors = {0}, warnings = {0};
    const struct error_list *wanted = want_warnings ? &warnings : &errors;
    scoped(buf) struct buf text = {0};
    struct error err = {0};
    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(yaml, strlen(yaml), &yaml_limits_default, &err);

    check_ok(yaml, stream != NULL, err);
    *out_good = true;
    for (size_t i = 0; i < yaml_count(stream); i++)
        *out_good =
            write_document(fixture, yaml_document(stream, i), &warnings, &errors) && *out_good;
    for (size_t i = 0; i < wanted->count; i++)
        buf_printf(&text, "%s: %s\n", wanted->items[i].field, wanted->items[i].message);
    error_list_release(&errors);
    error_list_release(&warnings);
    loop_settle(fixture->loop);
    return buf_take(&text);
}

void schedule_fixture_apply(struct schedule_fixture *fixture, const char *yaml)
{
    bool good;
    scoped_str findings = write_all(fixture, yaml, false, &good);

    if (!good)
        check_fail("%s is refused: %s", yaml, findings);
}

char *schedule_fixture_refused(struct schedule_fixture *fixture, const char *yaml)
{
    bool good;
    char *findings = write_all(fixture, yaml, false, &good);

    if (good)
        check_fail("%s is accepted", yaml);
    return findings;
}

char *schedule_fixture_warnings(struct schedule_fixture *fixture, const char *yaml)
{
    bool good;
    char *warnings = write_all(fixture, yaml, true, &good);

    check(yaml, good);
    return warnings;
}

void schedule_fixture_cronjob(struct schedule_fixture *fixture, const char *name, const char *spec)
{
    scoped_str yaml = mem_printf(
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: CronJob\nmetadata: {name: %s}\n"
        "spec: {%s, jobTemplate: {metadata: {labels: {app: x}, annotations: {a: b}}, spec: {tasks: "
        "[{name: t, replicas: 1, template: {spec: {containers: [{name: c, image: i, command: "
        "[c]}]}}}]}}}\n",
        name, spec);

    schedule_fixture_apply(fixture, yaml);
}

void schedule_fixture_trigger(struct schedule_fixture *fixture, const char *name, const char *spec)
{
    scoped_str yaml =
        mem_printf("apiVersion: flow.volcano.sh/v1alpha1\nkind: FlowTrigger\nmetadata: {name: %s}\n"
                   "spec: {%s}\n",
                   name, spec);

    schedule_fixture_apply(fixture, yaml);
}

void schedule_fixture_pattern(struct schedule_fixture *fixture, const char *name)
{
    scoped_str yaml = mem_printf("apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: "
                                 "{name: %s, labels: {app: x}, "
                                 "annotations: {a: b}}\nspec: {suspend: true, parameters: [{name: "
                                 "day, default: none}, {name: "
                                 "who, default: me}], flows: [{name: s, run: 'true'}]}\n",
                                 name);

    schedule_fixture_apply(fixture, yaml);
}

void schedule_fixture_flow_phase(struct schedule_fixture *fixture, const char *name,
                                 enum flow_phase phase)
{
    const struct object *flow = schedule_fixture_get(fixture, &kind_job_flow, name);

    if (!flow)
        check_fail("there is no flow %s; made so far: %s", name,
                   fixture->made.data ? fixture->made.data : "none");
    cluster_update_status(fixture->backend, NULL, flow, flow_status(phase));
    loop_settle(fixture->loop);
}

const char *schedule_fixture_parameter(struct schedule_fixture *fixture, const char *name,
                                       const char *parameter)
{
    const struct object *flow = schedule_fixture_get(fixture, &kind_job_flow, name);
    const char *value;

    if (!flow)
        check_fail("there is no flow %s; made so far: %s", name,
                   fixture->made.data ? fixture->made.data : "none");
    value = jobflow_parameter(jobflow_spec_of(flow), parameter);
    return value ? value : "";
}

void schedule_fixture_delete(struct schedule_fixture *fixture, const struct kind *kind,
                             const char *name)
{
    const struct registry_delete deletion = {.grace_s = 0, .propagation = REGISTRY_BACKGROUND};
    struct error_list errors = {0};
    struct error err = {0};

    registry_delete(fixture->registry, (struct registry_target){kind, "default", name}, &deletion,
                    NULL, &errors);
    check_ok(name, error_list_ok(&errors, &err), err);
    error_list_release(&errors);
    loop_settle(fixture->loop);
}

const struct object *schedule_fixture_get(struct schedule_fixture *fixture, const struct kind *kind,
                                          const char *name)
{
    return store_get(fixture->store, kind, "default", name);
}

size_t schedule_fixture_count(struct schedule_fixture *fixture, const struct kind *kind)
{
    return store_count(fixture->store, kind, NULL);
}

void schedule_fixture_phase(struct schedule_fixture *fixture, const char *name,
                            enum job_phase phase)
{
    const struct object *job = schedule_fixture_get(fixture, &kind_job, name);

    if (!job)
        check_fail("there is no job %s; made so far: %s", name,
                   fixture->made.data ? fixture->made.data : "none");
    cluster_update_status(fixture->backend, NULL, job,
                          job_status_blob(&(struct job_status){
                              .phase = phase,
                              .transition_ms = loop_wall_ms(fixture->loop),
                              .running_duration_ns = -1,
                          }));
    loop_settle(fixture->loop);
}

const char *schedule_fixture_at(struct schedule_fixture *fixture, const struct kind *kind,
                                const char *name, const char *path)
{
    const struct object *object = schedule_fixture_get(fixture, kind, name);

    check(name, object != NULL);
    return look_at_status(object, path);
}

int schedule_fixture_events(struct schedule_fixture *fixture, const char *reason)
{
    return look_for_events(fixture->store, reason).count;
}

const char *schedule_fixture_event_text(struct schedule_fixture *fixture, const char *reason)
{
    static struct look_events found;

    found = look_for_events(fixture->store, reason);
    return found.message;
}

void schedule_fixture_command(struct schedule_fixture *fixture, const struct kind *kind,
                              const char *name, const char *action, const char *message)
{
    static int number;
    const struct object *target = schedule_fixture_get(fixture, kind, name);
    scoped(json) json_t *doc =
        json_pack("{s:s, s:s, s:{s:o}, s:s, s:s, s:{s:s, s:s, s:s, s:s}}", "apiVersion",
                  kind_api_version(&kind_command), "kind", "Command", "metadata", "name",
                  json_sprintf("command-%d", ++number), "action", action, "message",
                  message ? message : "", "target", "apiVersion", kind_api_version(kind), "kind",
                  kind->name, "name", name, "uid", target ? object_uid(target) : "none");
    struct error_list errors = {0};
    struct error err = {0};

    write_document(fixture, doc, NULL, &errors);
    check_ok(action, error_list_ok(&errors, &err), err);
    error_list_release(&errors);
    loop_settle(fixture->loop);
}
