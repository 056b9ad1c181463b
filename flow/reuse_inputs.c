/*
 * Works out what a step works on: its key, its files, and the results of its targets.
 */
#include <string.h>

#include "api/types/schema/flow_reference.h"
#include "base/mem.h"
#include "flow/internal.h"
#include "flow/model/condition.h"
#include "flow/model/control.h"
#include "flow/reuse/command_words.h"
#include "flow/reuse/compare.h"
#include "flow/reuse/key.h"
#include "flow/reuse/mount_paths.h"
#include "flow/reuse_inputs.h"
#include "flow/reuse_service.h"

static const struct flow_reuse_options *options_of(const struct flow *flow)
{
    return flow->controller->reuse->options;
}

/* Returns a text of a step with its references replaced, from the arena. NULL with `err`. */
static const char *resolved(struct flow *flow, uint32_t step, const char *text, struct arena *arena,
                            struct error *err)
{
    struct flow_values values = {&flow->model, step, flow_phase_text(flow->state.ending), false};
    const struct flow_ref_values refs = flow_values_of(&values);
    scoped(buf) struct buf out = {0};

    if (!flow_ref_in(text))
        return arena_strdup(arena, text);
    if (!flow_refs_replace_text(text, &refs, &out, err))
        return NULL;
    return arena_strdup(arena, out.data ? out.data : "");
}

/* Sets where an absolute path or pattern is looked up. */
static void place_absolute(struct flow *flow, const json_t *job_spec, const char *path,
                           struct arena *arena, struct reuse_part *part)
{
    const struct flow_reuse_options *options = options_of(flow);
    const char *base;

    path = reuse_mount_path(job_spec, path, arena, &part->problem);
    if (!path)
        return;
    base = options->base_of ? options->base_of(options->ctx, path) : "/";
    if (!base) {
        part->problem = "pods may not see it (--allow-host-path)";
        return;
    }
    part->base.dir = arena_strdup(arena, base);
    part->base.bounds = options->base_of ? DIGEST_BENEATH : DIGEST_ANYWHERE;
    part->path = path;
    if (options->base_of)
        part->path += strlen(base) + strspn(path + strlen(base), "/");
}

/* Finds the directory in which relative paths of the step begin, as a part. */
static void find_base(struct flow *flow, const json_t *job_spec, struct arena *arena,
                      struct reuse_part *out)
{
    const struct flow_reuse_options *options = options_of(flow);
    const char *dir = reuse_working_dir(job_spec);

    if (dir && *dir == '/')
        place_absolute(flow, job_spec, dir, arena, out);
    else if (!options->directory)
        out->problem = "a relative path has no meaning here: write an absolute one";
    else
        place_absolute(flow, job_spec,
                       dir ? arena_printf(arena, "%s/%s", options->directory, dir)
                           : options->directory,
                       arena, out);
}

static void add_parts(struct flow *flow, uint32_t step, const json_t *job_spec,
                      const struct str_list *paths, struct arena *arena, struct reuse_parts *out)
{
    struct reuse_part base = {0};

    out->items = arena_array(arena, paths->count + 1, sizeof *out->items);
    if (paths->count)
        find_base(flow, job_spec, arena, &base);
    for (size_t i = 0; i < paths->count; i++) {
        struct reuse_part *part = &out->items[out->count++];
        struct error err = {0};
        const char *path = resolved(flow, step, paths->items[i], arena, &err);

        part->name = path ? path : paths->items[i];
        if (!path) {
            part->problem = arena_strdup(arena, err.message);
        } else if (*path == '/') {
            place_absolute(flow, job_spec, path, arena, part);
        } else if (base.problem || digest_leads_out(path)) {
            part->problem = base.problem ? base.problem : "it leads out of the working directory";
        } else {
            part->base = base.base;
            part->path = path;
            if (base.base.bounds == DIGEST_ANYWHERE)
                part->base.dir = base.path;
            else /* opened from the directory that pods may see, so that no link leads out of it */
                part->path = arena_printf(arena, "%s/%s", base.path, path);
        }
    }
}

static void add_words(struct flow *flow, const json_t *job_spec, struct reuse_scan *scan)
{
    struct str_list words = reuse_command_words(job_spec, scan->arena);
    struct reuse_part base = {0};

    find_base(flow, job_spec, scan->arena, &base);
    if (base.problem || (base.base.bounds == DIGEST_BENEATH && *base.path))
        return;
    scan->base = base.base;
    if (base.base.bounds == DIGEST_ANYWHERE)
        scan->base.dir = base.path;
    scan->words.items = arena_array(scan->arena, words.count + 1, sizeof *scan->words.items);
    for (size_t i = 0; i < words.count; i++)
        scan->words.items[scan->words.count++].name = words.items[i];
}

struct reuse_scan *flow_reuse_scan(struct flow *flow, uint32_t step, const json_t *job_spec)
{
    const struct flow_step *spec = flow_graph_step(flow->model.graph, step);
    struct reuse_scan *scan = reuse_scan_new(flow->controller->reuse->memory);

    add_parts(flow, step, job_spec, &spec->reads, scan->arena, &scan->reads);
    add_parts(flow, step, job_spec, &spec->writes, scan->arena, &scan->writes);
    add_words(flow, job_spec, scan);
    return scan;
}

/* Appends the uid of the job that a step's result comes from, and before it the job's phase unless
 * that is Completed. A reused step has the result of an earlier job; for a skipped step the text is
 * "skipped". Returns false when the uid is not known. */
static bool write_job(const struct flow *flow, uint32_t step, struct buf *out)
{
    const struct flow_model *m = &flow->model;
    const struct step *s = &m->steps[step];
    const struct object *job = s->cached ? NULL : flow_job_of(flow, step);
    const char *uid = s->cached && m->reuse ? m->reuse[step].from.uid
                      : job                 ? object_uid(job)
                                            : NULL;
    scoped(json) json_t *kept = NULL;

    if (!uid && s->history && s->history->kept_attempt) {
        kept = json_read(s->history->kept_attempt, strlen(s->history->kept_attempt));
        uid = json_string_value(json_object_get(kept, "uid"));
    }
    if (s->state == STEP_SKIPPED || s->state == STEP_DORMANT) {
        buf_str(out, "skipped;");
        return true;
    }
    if (!uid)
        return false;
    buf_printf(out, "%s%s;",
               s->phase == JOB_COMPLETED ? "" : job_phase_text((enum job_phase)s->phase), uid);
    return true;
}

/* Appends a digest of what the job says. */
static bool write_body(const struct object *job, struct buf *out)
{
    struct sha256 digest;
    char text[SHA256_TEXT_MAX];

    sha256_of(job->body->text, job->body->len, &digest);
    sha256_format(&digest, text);
    buf_printf(out, "server %s;", text);
    return true;
}

/* Appends what stands for the result of a target by its jobs: of a loop those of its iterations. */
static bool write_result(const struct flow *flow, uint32_t target, struct buf *out)
{
    const struct flow_model *m = &flow->model;
    uint32_t iterations = flow_graph_iterations(m->graph, target);

    if (m->steps[target].serves) { /* it is the same for its users when its job says the same */
        const struct object *job = flow_job_of(flow, target);

        return job && write_body(job, out);
    }
    if (m->steps[target].jobless && !iterations) {
        const char *chosen = m->control ? m->control->steps[target].chosen : NULL;

        buf_printf(out, "case %s", chosen ? chosen : "");
        return true;
    }
    if (m->steps[target].state == STEP_SKIPPED || !iterations)
        return write_job(flow, target, out);
    for (uint32_t i = target + 1; i <= target + iterations; i++)
        if (!write_job(flow, i, out))
            return false;
    return true;
}

/* The largest loop whose files are scanned one by one for a step behind it. What a larger one wrote
 * counts by its jobs. */
enum { LOOKED_ITERATIONS_MAX = 1000 };

static bool has_completed(const struct step *step)
{
    return step->state == STEP_STARTED && step->phase == JOB_COMPLETED;
}

/* Tells whether what a target declares to write stands for its result: its job, or those of all
 * iterations that it had, have completed. */
static bool can_be_looked_at(const struct flow_model *m, uint32_t target)
{
    uint32_t iterations = flow_graph_iterations(m->graph, target), had = 0;

    if (!m->steps[target].jobless)
        return has_completed(&m->steps[target]);
    for (uint32_t i = target + 1; i <= target + iterations; i++) {
        if (m->steps[i].state == STEP_STARTED && !has_completed(&m->steps[i]))
            return false;
        had += has_completed(&m->steps[i]);
    }
    return had && had <= LOOKED_ITERATIONS_MAX;
}

/* Appends what the job of a step or an iteration writes. `out` has room. */
static void add_writes(struct flow *flow, uint32_t vertex, const struct flow_step *spec,
                       const struct object *template, struct arena *arena, struct reuse_parts *out)
{
    struct blob *body = template ? flow_job_body(flow, vertex, template, NULL) : NULL;
    scoped(json) json_t *doc = body ? json_read(body->text, body->len) : NULL;
    struct reuse_parts parts = {0};

    add_parts(flow, vertex, json_object_get(doc, "spec"), &spec->writes, arena, &parts);
    for (size_t i = 0; i < parts.count; i++)
        out->items[out->count++] = parts.items[i];
    blob_unref(body);
}

/* Adds the declared writes of a target to the scan: of a loop those of its iterations. */
static void scan_target(struct flow *flow, uint32_t target, struct reuse_scan *scan)
{
    const struct flow_model *m = &flow->model;
    const struct flow_step *spec = flow_graph_step(m->graph, target);
    struct reuse_target_files *files = &scan->targets[scan->n_targets++];
    const struct object *template = flow_template_of(flow, target);
    uint32_t iterations = flow_graph_iterations(m->graph, target);
    size_t jobs =
        iterations ? iterations < LOOKED_ITERATIONS_MAX ? iterations : LOOKED_ITERATIONS_MAX : 1;

    files->step = spec->name;
    files->writes.items =
        arena_array(scan->arena, jobs * spec->writes.count + 1, sizeof *files->writes.items);
    if (!iterations)
        add_writes(flow, target, spec, template, scan->arena, &files->writes);
    for (uint32_t i = target + 1; i <= target + iterations; i++)
        if (has_completed(&m->steps[i]))
            add_writes(flow, i, spec, template, scan->arena, &files->writes);
}

struct reuse_target *flow_reuse_targets(struct flow *flow, uint32_t step, struct reuse_scan *scan,
                                        size_t *out_count)
{
    const struct flow_model *m = &flow->model;
    const struct flow_depends *depends = flow_graph_step(m->graph, step)->depends;
    size_t count = depends ? depends->targets.count : 0;
    struct reuse_target *targets = arena_array(scan->arena, count + 1, sizeof *targets);

    *out_count = 0;
    scan->targets = arena_array(scan->arena, count + 1, sizeof *scan->targets);
    for (size_t i = 0; i < count; i++) {
        uint32_t target = flow_graph_find(m->graph, depends->targets.items[i]);
        struct reuse_target *out = &targets[*out_count];
        scoped(buf) struct buf result = {0};
        const struct flow_step *spec;

        if (target == STEP_NONE)
            continue;
        spec = flow_graph_step(m->graph, target);
        (*out_count)++;
        out->step = spec->name;
        out->by_job = !spec->writes.count;
        if (spec->writes.count && can_be_looked_at(m, target)) {
            scan_target(flow, target, scan);
        } else if (write_result(flow, target, &result)) {
            out->result = arena_strdup(scan->arena, result.data);
        } else {
            out->result = "";
            if (!(out->by_job && scan->reads.count) && !scan->inputs.code)
                error_set(&scan->inputs, ERR_NOT_FOUND, "", "the result of %s is not known",
                          spec->name);
        }
    }
    return targets;
}

/* The digest of what a job uses of a ConfigMap or Secret. That of a Secret needs the key of this data
 * directory, so that it does not give a short text away. */
static void source_digest(struct flow *flow, const struct reuse_source *source, struct sha256 *out)
{
    const struct flow_reuse_options *options = options_of(flow);
    const struct object *object =
        cluster_get(flow->controller->cluster, source->secret ? &kind_secret : &kind_config_map,
                    object_namespace(flow->object), source->name);
    scoped(json) json_t *body = object ? object_body_json(object) : NULL;
    const json_t *data = json_object_get(body, "data");
    const json_t *used = source->key ? json_object_get(data, source->key) : body;
    char *text;

    if (!used && source->key)
        used = json_object_get(json_object_get(body, "binaryData"), source->key);
    text = used ? json_dumps(used, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;

    scoped_str whole = mem_printf("%d %s %s %s", source->secret, source->name,
                                  source->key ? source->key : "", text ? text : "");

    if (source->secret) {
        size_t len = 0;
        const void *key = options->secret(options->ctx, &len);

        sha256_keyed(key, len, whole, strlen(whole), out);
    } else {
        sha256_of(whole, strlen(whole), out);
    }
    free(text);
}

/* The digest of the variables that all containers get. They may be secret. */
static void environment_digest(struct flow *flow, struct sha256 *out)
{
    const struct flow_reuse_options *options = options_of(flow);
    size_t len = 0;
    const void *key = options->secret(options->ctx, &len);

    sha256_keyed(key, len, options->environment, strlen(options->environment), out);
}

/* Appends a member with the paths of a step as they are written, with references replaced. */
static bool write_paths(struct flow *flow, uint32_t step, const char *member,
                        const struct str_list *paths, struct arena *arena, struct buf *out,
                        struct error *err)
{
    struct jsonw w = jsonw_to(out);

    buf_printf(out, ",\"%s\":", member);
    jsonw_open_list(&w);
    for (size_t i = 0; i < paths->count; i++) {
        const char *path = resolved(flow, step, paths->items[i], arena, err);

        if (!path)
            return false;
        jsonw_str(&w, path);
    }
    jsonw_close_list(&w);
    return true;
}

bool flow_reuse_key(struct flow *flow, uint32_t step, const json_t *job, struct reuse_draft *out,
                    struct error *err)
{
    const struct flow_step *spec = flow_graph_step(flow->model.graph, step);
    const struct flow_cache *cache = spec->cache;
    scoped(arena) struct arena *arena = arena_new(256);
    scoped(buf) struct buf canonical = {0};
    scoped(buf) struct buf body = {0};
    struct reuse_sources sources = {0};
    struct reuse_key_parts parts = {.namespace = object_namespace(flow->object)};
    struct sha256 *digests, key;

    if (cache && cache->key) {
        parts.key = resolved(flow, step, cache->key, arena, err);
        if (!parts.key)
            return false;
    }
    reuse_sources_find(json_object_get(job, "spec"), &sources);
    digests = arena_array(arena, sources.count + 1, sizeof *digests); /* and the environment */
    for (size_t i = 0; i < sources.count; i++)
        source_digest(flow, &sources.items[i], &digests[i]);
    buf_str(&canonical, "{\"job\":");
    reuse_canonical(job, &canonical);
    if (!write_paths(flow, step, "reads", &spec->reads, arena, &canonical, err) ||
        !write_paths(flow, step, "writes", &spec->writes, arena, &canonical, err)) {
        reuse_sources_release(&sources);
        return false;
    }
    buf_char(&canonical, '}');
    parts.canonical = canonical.data;
    parts.source = digests;
    parts.n_sources = sources.count;
    if (options_of(flow)->environment)
        environment_digest(flow, &digests[parts.n_sources++]);
    reuse_key(&parts, &key);
    out->key = mem_alloc(SHA256_TEXT_MAX);
    sha256_format(&key, out->key);
    buf_printf(&body, "{\"spec\":%s}", canonical.data);
    out->body = buf_take(&body);
    reuse_sources_release(&sources);
    return true;
}
