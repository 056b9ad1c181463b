/*
 * Says how long the run of a simulated container takes and how it ends: by the script of the
 * runtime, or by the annotations of the pod.
 */
#include <string.h>

#include "api/types/kinds/pod/sim_annotations.h"
#include "base/mem.h"
#include "node/runtime/sim_internal.h"

/* Returns where the number of ended runs of a container under the name of its pod is counted. */
static size_t *runs_of(struct sim_container *c)
{
    struct sim *sim = c->pod->sim;
    scoped_str key = mem_printf("%s/%s/%s", object_namespace(c->pod->object),
                                object_name(c->pod->object), c->spec->name);
    struct sim_attempts *found;
    size_t len = strlen(key);

    HASH_FIND(hh, sim->attempts, key, len, found);
    if (!found) {
        found = mem_alloc(sizeof *found + len + 1);
        memcpy(found->key, key, len + 1);
        HASH_ADD(hh, sim->attempts, key, len, found);
    }
    return &found->count;
}

static bool ask_script(struct sim_container *c, struct sim_outcome *out)
{
    struct sim *sim = c->pod->sim;

    return sim->script && c->pod->object &&
           sim->script(sim->script_ctx, c->pod->object, c->spec->name, *runs_of(c), out);
}

int64_t sim_run_ns(struct sim_container *c)
{
    struct sim_outcome outcome;

    if (ask_script(c, &outcome))
        return outcome.duration_ns;
    return pod_sim_duration_ns(meta_annotation(c->pod->object->meta, ANNOTATION_SIM_DURATION),
                               c->spec->name);
}

const char *sim_termination_message(struct sim_container *c)
{
    struct sim_outcome outcome;

    if (ask_script(c, &outcome))
        return outcome.message;
    return c->pod->object ? meta_annotation(c->pod->object->meta, ANNOTATION_SIM_MESSAGE) : NULL;
}

int sim_take_exit_code(struct sim_container *c)
{
    const char *codes = meta_annotation(c->pod->object->meta, ANNOTATION_SIM_EXIT_CODE);
    struct sim_outcome outcome;

    if (ask_script(c, &outcome)) {
        ++*runs_of(c);
        return outcome.exit_code;
    }
    return pod_sim_exit_code(codes, pod_sim_exit_code_varies(codes) ? (*runs_of(c))++ : 0);
}
