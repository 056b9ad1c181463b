/*
 * Keeps running pods up to date with the ConfigMaps and Secrets they use. Files change at once,
 * variables with the next run of a container. Files that show the pod's own labels and annotations,
 * and its deadline, follow the pod's own object.
 *
 * An index leads from each ConfigMap and Secret to the running pods that use it, so a change costs
 * only those pods. Each of them is resolved again once per turn and handed to the runtime, which
 * replaces what differs. A reference that no longer resolves (the object or the key is gone) leaves
 * the old content. Ref: spec/local-runtime.md 4.4; spec/job-plugins.md 3.3.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "node/kubelet/env.h"
#include "node/kubelet/internal.h"

enum { KEY_MAX = 600 };

struct reference {
    struct kubelet_pod *pod;
    struct config_object *object;
    LIST_ENTRY(reference) of_object;
};

/* A ConfigMap or Secret that running pods use. */
struct config_object {
    UT_hash_handle hh;
    LIST_HEAD(references, reference) pods;
    char key[];
};

/* All references of one pod to ConfigMaps and Secrets. */
struct tracked_sources {
    struct kubelet_pod *pod;
    STAILQ_ENTRY(tracked_sources) next_stale;
    bool stale; /* the pod is in kubelet.stale: its sources are read again at the end of the turn */
    bool variables;  /* containers that may run again have variables from other objects */
    bool own_object; /* some files show labels or annotations of the pod */
    size_t n, cap;
    struct reference **items; /* the references; owned */
};

static void key_of(char key[KEY_MAX], const struct kind *kind, const char *ns, const char *name)
{
    snprintf(key, KEY_MAX, "%s/%s/%s", kind->plural, ns, name);
}

static struct tracked_sources *sources_of(struct kubelet_pod *pod)
{
    if (!pod->sources) {
        pod->sources = mem_alloc(sizeof *pod->sources);
        pod->sources->pod = pod;
    }
    return pod->sources;
}

static void add(struct kubelet_pod *pod, const struct kind *kind, const char *name)
{
    struct kubelet *k = pod->kubelet;
    struct config_object *object;
    struct reference *reference;
    struct tracked_sources *sources;
    char key[KEY_MAX];

    if (!name)
        return;
    key_of(key, kind, pod->meta->namespace, name);
    HASH_FIND(hh, k->config_objects, key, strlen(key), object);
    if (!object) {
        object = mem_alloc(sizeof *object + strlen(key) + 1);
        memcpy(object->key, key, strlen(key) + 1);
        LIST_INIT(&object->pods);
        HASH_ADD_KEYPTR(hh, k->config_objects, object->key, strlen(key), object);
    }
    reference = mem_alloc(sizeof *reference);
    reference->pod = pod;
    reference->object = object;
    LIST_INSERT_HEAD(&object->pods, reference, of_object);
    sources = sources_of(pod);
    mem_grow(sources->items, sources->n, sources->cap);
    sources->items[sources->n++] = reference;
}

static void add_source(struct kubelet_pod *pod, const json_t *source)
{
    const json_t *secret = json_object_get(source, "secret");
    const char *secret_name = doc_text(secret, "secretName");

    add(pod, &kind_config_map, doc_text(json_object_get(source, "configMap"), "name"));
    add(pod, &kind_secret, secret_name ? secret_name : doc_text(secret, "name"));
    if (json_object_get(source, "downwardAPI"))
        sources_of(pod)->own_object = true;
}

static bool may_run_again(const struct pod_spec *spec)
{
    bool again = spec->restart_policy && strcmp(spec->restart_policy, "Never") != 0;

    for (size_t i = 0; i < spec->init_containers.count; i++)
        again = again || spec->init_containers.items[i].restart_policy;
    return again;
}

static const char *name_in(const json_t *doc, const char *member)
{
    return doc_text(json_object_get(doc, member), "name");
}

static void add_variables(struct kubelet_pod *pod, const struct pod_container *container)
{
    size_t before = pod->sources ? pod->sources->n : 0;

    for (size_t i = 0; i < container->env.count; i++) {
        const json_t *from = container->env.items[i].value_from;

        add(pod, &kind_config_map, name_in(from, "configMapKeyRef"));
        add(pod, &kind_secret, name_in(from, "secretKeyRef"));
    }
    for (size_t i = 0; i < json_array_size(container->env_from); i++) {
        const json_t *from = json_array_get(container->env_from, i);

        add(pod, &kind_config_map, name_in(from, "configMapRef"));
        add(pod, &kind_secret, name_in(from, "secretRef"));
    }
    if (pod->sources && pod->sources->n > before)
        pod->sources->variables = true;
}

static void track_variables(struct kubelet_pod *pod, const struct pod_spec *spec)
{
    for (size_t i = 0; i < runtime_container_count(spec); i++)
        add_variables(pod, runtime_container_at(spec, i));
    /* A variable may contain the address of a pod that is started again, so it may change. */
    if (kubelet_hosts_as_addresses(pod))
        sources_of(pod)->variables = true;
}

static void refresh_programs(struct kubelet_pod *pod, const struct value_source *source)
{
    struct runtime *runtime = pod->kubelet->runtime;
    const struct runtime_pod shown = kubelet_runtime_pod(pod);

    for (size_t i = 0; i < runtime_container_count(source->spec); i++) {
        struct runtime_container now = {0};

        if (kubelet_env(source, runtime_container_at(source->spec, i), &now) == RESOLVED)
            runtime->ops->set_program(runtime, &shown, (uint32_t)i, &now);
    }
}

void kubelet_track_sources(struct kubelet_pod *pod)
{
    const struct pod_spec *spec;

    if (!pod->object || pod->sources || pod->kubelet->options.volumes.sim)
        return;
    spec = pod_spec_of(pod->object);
    for (size_t i = 0; i < spec->volumes.count; i++) {
        const json_t *source = spec->volumes.items[i].source;
        const json_t *parts = json_object_get(json_object_get(source, "projected"), "sources");

        add_source(pod, source);
        for (size_t p = 0; p < json_array_size(parts); p++)
            add_source(pod, json_array_get(parts, p));
    }
    if (may_run_again(spec))
        track_variables(pod, spec);
}

static void drop(struct kubelet *k, struct reference *reference)
{
    struct config_object *object = reference->object;

    LIST_REMOVE(reference, of_object);
    mem_free(reference);
    if (!LIST_EMPTY(&object->pods))
        return;
    assert(k->config_objects); /* the list holds at least `object` */
    HASH_DELETE(hh, k->config_objects, object);
    mem_free(object);
}

void kubelet_untrack_sources(struct kubelet_pod *pod)
{
    struct tracked_sources *sources = take(pod->sources);

    if (!sources)
        return;
    if (sources->stale)
        STAILQ_REMOVE(&pod->kubelet->stale, sources, tracked_sources, next_stale);
    for (size_t i = 0; i < sources->n; i++)
        drop(pod->kubelet, sources->items[i]);
    mem_free(sources->items);
    mem_free(sources);
}

void kubelet_refresh_later(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    if (!pod->sources || pod->sources->stale)
        return;
    pod->sources->stale = true;
    STAILQ_INSERT_TAIL(&k->stale, pod->sources, next_stale);
    loop_post(k->cluster->loop, &k->refresh);
}

static bool same_pairs(const struct kv *a, size_t n_a, const struct kv *b, size_t n_b)
{
    for (size_t i = 0; i < n_a && n_a == n_b; i++)
        if (strcmp(a[i].key, b[i].key) != 0 || strcmp(a[i].value, b[i].value) != 0)
            return false;
    return n_a == n_b;
}

static bool same_labels(const struct meta *a, const struct meta *b)
{
    return a == b ||
           (same_pairs(a->labels, a->n_labels, b->labels, b->n_labels) &&
            same_pairs(a->annotations, a->n_annotations, b->annotations, b->n_annotations));
}

void kubelet_send_deadline(struct kubelet_pod *pod)
{
    struct runtime *runtime = pod->kubelet->runtime;
    struct opt_i64 seconds = pod_spec_of(pod->object)->active_deadline_s;

    runtime->ops->set_deadline(runtime, pod->meta->uid, seconds.set ? seconds.value * 1000 : 0);
}

static int64_t deadline_s(const struct object *pod)
{
    const struct pod_spec *spec = pod_spec_of(pod);

    return spec->active_deadline_s.set ? spec->active_deadline_s.value : 0;
}

void kubelet_pod_updated(struct kubelet_pod *pod, const struct object *before)
{
    const struct object *now = pod->object;

    if (pod->step != STEP_STARTED)
        return;
    if (before->body != now->body && deadline_s(before) != deadline_s(now))
        kubelet_send_deadline(pod);
    if (pod->sources && pod->sources->own_object && !same_labels(before->meta, now->meta))
        kubelet_refresh_later(pod);
}

void kubelet_config_changed(struct kubelet *k, const struct object *changed)
{
    struct config_object *object;
    struct reference *reference;
    char key[KEY_MAX];

    if (!k->config_objects)
        return;
    key_of(key, changed->kind, object_namespace(changed), object_name(changed));
    HASH_FIND(hh, k->config_objects, key, strlen(key), object);
    if (object)
        LIST_FOREACH(reference, &object->pods, of_object)
    kubelet_refresh_later(reference->pod);
}

static void refresh(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;
    scoped(arena) struct arena *arena = arena_new(0);
    struct resolve_problem problem = {0};
    const struct value_source source = kubelet_value_source(pod, arena, &problem);
    struct runtime_volume *volumes;
    size_t n;

    if (pod->sources->variables)
        refresh_programs(pod, &source);
    if (kubelet_volumes(&source, &k->options.volumes, &volumes, &n) != RESOLVED)
        return;
    for (size_t i = 0; i < n; i++)
        if (volumes[i].kind == VOLUME_FILES)
            k->runtime->ops->set_files(k->runtime, pod->meta->uid, i, &volumes[i]);
}

void kubelet_refresh_run(struct task *task)
{
    struct kubelet *k = container_of(task, struct kubelet, refresh);
    struct tracked_sources *sources;

    while ((sources = STAILQ_FIRST(&k->stale))) {
        STAILQ_REMOVE_HEAD(&k->stale, next_stale);
        sources->stale = false;
        refresh(sources->pod);
    }
}
