/*
 * Kubernetes has changed its own API for gangs from version to version. The cluster's discovery says
 * which one it serves.
 */
#include "cli/controller/gang.h"

#include <string.h>

#include "api/types/kind.h"
#include "base/log.h"

const char *const gang_names[] = {"none", "coscheduling", "kueue", "workload", NULL};

unsigned gang_rights(const char *name)
{
    return strcmp(name, "coscheduling") == 0 ? RIGHTS_COSCHEDULING
           : strcmp(name, "workload") == 0   ? RIGHTS_WORKLOAD
                                             : 0;
}

/* Returns whether the cluster has the kind; false with an error when the server was not reached. */
static bool has_kind(struct server *server, const struct kind *kind, struct error *err)
{
    const struct kind *const kinds[] = {kind, NULL};
    const struct kind *missing;

    return server_find_missing_kind(server, kinds, &missing, err) && !missing;
}

static bool choose_coscheduling(struct server *server, enum job_gang *out, struct error *err)
{
    *out = JOB_GANG_COSCHEDULING;
    if (has_kind(server, &kind_coscheduling_group, err))
        return true;
    return err->code != ERR_UNAVAILABLE &&
           error_set(err, ERR_NOT_FOUND, "",
                     "the cluster has no podgroups.scheduling.x-k8s.io, which --gang=coscheduling "
                     "needs: install the scheduler plugin coscheduling");
}

/* Without Kueue its marks mean nothing, and pods are placed one by one. */
static bool choose_kueue(struct server *server, enum job_gang *out, struct error *err)
{
    scoped(json) json_t *group = server_get(server, "/apis/kueue.x-k8s.io", err);

    *out = JOB_GANG_KUEUE;
    if (!group && err->code == ERR_UNAVAILABLE)
        return false;
    if (!group)
        log_warn("the cluster has no Kueue: pods are placed one by one until it is installed",
                 kv_str("gang", "kueue"));
    return true;
}

static bool choose_workload(struct server *server, enum job_gang *out, struct error *err)
{
    static const struct {
        const struct kind *kind;
        enum job_gang gang;
    } versions[] = {{&kind_workload_group, JOB_GANG_WORKLOAD},
                    {&kind_workload, JOB_GANG_WORKLOAD_135}};

    for (size_t i = 0; i < countof(versions); i++) {
        *out = versions[i].gang;
        if (has_kind(server, versions[i].kind, err))
            return true;
        if (err->code == ERR_UNAVAILABLE)
            return false;
    }
    return error_set(err, ERR_NOT_FOUND, "",
                     "the cluster has neither podgroups of scheduling.k8s.io/v1alpha2 (Kubernetes "
                     "1.36) nor workloads of scheduling.k8s.io/v1alpha1 (1.35), of which "
                     "--gang=workload needs one: the API server serves them with the feature gate "
                     "GenericWorkload and that version in --runtime-config");
}

static bool choose_none(struct server *server, enum job_gang *out, struct error *err)
{
    *out = JOB_GANG_NONE;
    return true;
}

bool gang_choose(struct server *server, const char *name, enum job_gang *out, struct error *err)
{
    static bool (*const choose[])(struct server *, enum job_gang *, struct error *) = {
        choose_none, choose_coscheduling, choose_kueue, choose_workload};
    size_t i = 0;

    while (strcmp(gang_names[i], name) != 0)
        i++;
    return choose[i](server, out, err);
}
