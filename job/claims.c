/*
 * PersistentVolumeClaims of a job's volumes. The job waits for claims that its spec names. Other
 * claims are created, under a name that is written into the spec first, so that a crash creates
 * none twice. Ref: spec/job.md 12, O-11, O-46, O-53, O-55.
 */
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "base/mem.h"
#include "job/model/names.h"
#include "job/objects/pod.h"
#include "job/prepare.h"

static bool falls_back(const struct job_run *run)
{
    const char *text = meta_annotation(run->model.job->meta, ANNOTATION_VOLUME_FALLBACK);

    return text && strcmp(text, "emptyDir") == 0;
}

static void use_empty_dir(struct job_run *run, size_t position)
{
    scoped_str key = job_volume_empty_key(&run->model, position);
    scoped_str name = job_volume_name(&run->model, position);

    if (job_state_control(&run->model.state, key, name))
        job_status_mark_stale(run);
}

/* Writes the names of claims that are to be created into the spec (O-53). False while that write is
 * in flight. */
static bool names_are_written(struct job_run *run)
{
    const struct job_spec *spec = run->model.compiled->spec;
    scoped(json) json_t *body = NULL;
    json_t *volumes;

    for (size_t i = 0; i < spec->volumes.count; i++) {
        const struct job_volume *volume = &spec->volumes.items[i];
        scoped_str name = NULL;

        if (!volume->claim || (volume->claim_name && *volume->claim_name))
            continue;
        if (!body)
            body = object_body_json(run->model.job);
        name = job_claim_name(run->model.job, i);
        volumes = json_object_get(json_object_get(body, "spec"), "volumes");
        json_object_set_new(json_array_get(volumes, i), "volumeClaimName", json_string(name));
    }
    if (!body)
        return true;
    cluster_update(run->ctl->cluster, job_prepare_write(run, "PVCError"),
                   object_with_body(run->model.job, object_body_from_json(body)));
    return false;
}

static void create_claim(struct job_run *run, const char *name, json_t *claim)
{
    scoped(json) json_t *body = json_pack("{s:O}", "spec", claim);

    cluster_create(run->ctl->cluster, job_prepare_write(run, "PVCError"),
                   job_owned_object(run, &kind_pvc, name, object_body_from_json(body)));
}

static bool ensure_claim(struct job_run *run, size_t position)
{
    const struct job_volume *volume = &run->model.compiled->spec->volumes.items[position];
    scoped_str name = job_volume_claim(&run->model, position);
    scoped_str key = name ? mem_printf("volume-pvc-%s", name) : NULL;
    scoped_str message = NULL;
    const char *ns = object_namespace(run->model.job);

    if (!name) { /* an emptyDir: recorded before, or the volume names no claim */
        use_empty_dir(run, position);
        return true;
    }
    if (cluster_get(run->ctl->cluster, &kind_pvc, ns, name)) {
        if (job_state_control(&run->model.state, key, name))
            job_status_mark_stale(run);
        return true;
    }
    if (volume->claim) {
        create_claim(run, name, volume->claim);
        return false;
    }
    if (falls_back(run)) {
        use_empty_dir(run, position);
        return true;
    }
    message = mem_printf("claim %s does not exist; the job continues when it does", name);
    job_status_waits(run, "PVCNotFound", message);
    job_wait_for(run, &kind_pvc, ns, name);
    return false;
}

bool job_claims_ensure(struct job_run *run)
{
    bool all = true;

    if (run->model.compiled->spec->volumes.count == 0)
        return true;
    if (!names_are_written(run))
        return false;
    for (size_t i = 0; i < run->model.compiled->spec->volumes.count; i++)
        all &= ensure_claim(run, i);
    return all;
}
