/*
 * Claims of a job's volumes: given ones are waited for, others made under a name that the spec
 * carries before the claim exists. Ref: spec/job.md 12, O-11, O-46, O-53, O-55.
 */
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "base/mem.h"
#include "job/names.h"
#include "job/pod.h"
#include "job/prepare.h"

static bool falls_back(const struct job_run *run)
{
    const char *text = meta_annotation(run->view.job->meta, ANNOTATION_VOLUME_FALLBACK);

    return text && strcmp(text, "emptyDir") == 0;
}

static void use_empty_dir(struct job_run *run, size_t position)
{
    scoped_str key = job_volume_empty_key(&run->view, position);
    scoped_str name = job_volume_name(&run->view, position);

    if (job_state_control(&run->view.state, key, name))
        job_status_stale(run);
}

/* Write the names of the claims that are still to be made into the spec, before any is made (O-53).
 */
static bool names_are_written(struct job_run *run)
{
    const struct job_spec *spec = run->view.shape->spec;
    scoped(json) json_t *body = NULL;
    json_t *volumes;

    for (size_t i = 0; i < spec->volumes.count; i++) {
        const struct job_volume *volume = &spec->volumes.items[i];
        scoped_str name = NULL;

        if (!volume->claim || (volume->claim_name && *volume->claim_name))
            continue;
        if (!body)
            body = object_body_json(run->view.job);
        name = job_claim_name(run->view.job, i);
        volumes = json_object_get(json_object_get(body, "spec"), "volumes");
        json_object_set_new(json_array_get(volumes, i), "volumeClaimName", json_string(name));
    }
    if (!body)
        return true;
    cluster_update(run->ctl->cluster, job_prep_begin(run, "PVCError"),
                   object_with_body(run->view.job, object_body_from_json(body)));
    return false;
}

static void create_claim(struct job_run *run, const char *name, json_t *claim)
{
    scoped(json) json_t *body = json_pack("{s:O}", "spec", claim);

    cluster_create(run->ctl->cluster, job_prep_begin(run, "PVCError"),
                   job_prep_owned(run, &kind_pvc, name, object_body_from_json(body)));
}

static bool claim_is_there(struct job_run *run, size_t position)
{
    const struct job_volume *volume = &run->view.shape->spec->volumes.items[position];
    scoped_str name = job_volume_claim(&run->view, position);
    scoped_str key = name ? mem_printf("volume-pvc-%s", name) : NULL;
    scoped_str message = NULL;
    const char *ns = object_namespace(run->view.job);

    if (!name) { /* an emptyDir, because it was decided so or nothing else is said */
        use_empty_dir(run, position);
        return true;
    }
    if (cluster_get(run->ctl->cluster, &kind_pvc, ns, name)) {
        if (job_state_control(&run->view.state, key, name))
            job_status_stale(run);
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
    message = mem_printf("claim %s does not exist; the job goes on when it does", name);
    job_explain(run, "PVCNotFound", message);
    job_wait_for(run, &kind_pvc, ns, name);
    return false;
}

bool job_claims_are_there(struct job_run *run)
{
    bool all = true;

    if (run->view.shape->spec->volumes.count == 0)
        return true;
    if (!names_are_written(run))
        return false;
    for (size_t i = 0; i < run->view.shape->spec->volumes.count; i++)
        all &= claim_is_there(run, i);
    return all;
}
