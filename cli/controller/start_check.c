/*
 * The first check that fails decides. What cannot be read, such as a definition without the right to
 * read it, is not held against the cluster.
 */
#include "cli/controller/start_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/crd_document.h"
#include "api/types/text/doc.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/command/command.h"
#include "cli/controller/rights_check.h"
#include "cli/controller/schema_gap.h"

enum { GAP_NAMED = 3 };

/* Says what brings a kind that the cluster lacks. */
static void write_mend(const struct mode *mode, const struct kind *kind, struct buf *out)
{
    bool is_ours = kind == &kind_job_flow || kind == &kind_job_template;
    bool may_be_ours = mode->runs_jobs && (kind == &kind_job || kind == &kind_command);

    if (!is_ours && !may_be_ours)
        buf_printf(out, "install Volcano, whose %s",
                   mode->runs_jobs ? "scheduler places pods" : "controller runs jobs");
    else
        buf_printf(out, "run '%s manifests --mode=%s%s | kubectl apply --server-side -f -'",
                   cli_program, mode->name,
                   may_be_ours && mode->beside_volcano ? " --own-job-crd" : "");
}

static bool check_kinds(struct server *server, const struct mode *mode, struct error *err)
{
    scoped(buf) struct buf mend = {0};
    const struct kind *missing;

    if (!server_find_missing_kind(server, mode->needed, &missing, err))
        return false;
    if (!missing)
        return true;
    write_mend(mode, missing, &mend);
    return error_set(err, ERR_NOT_FOUND, "", "the cluster has no %s.%s: %s", missing->plural,
                     missing->group, mend.data);
}

/* Reads the definition of a kind. Owned; NULL when it cannot be read. */
static json_t *definition_of(struct server *server, const struct kind *kind)
{
    scoped_str target = mem_printf("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/%s.%s",
                                   kind->plural, kind->group);
    struct error err = {0};
    json_t *doc = server_get(server, target, &err);

    if (!doc)
        log_info("a definition cannot be read, so it is not checked", kv_str("kind", kind->name),
                 kv_str("error", err.message));
    return doc;
}

/* Returns the revision of a definition that this program has made; 0 for one of another. */
static long revision_of(const json_t *definition)
{
    const json_t *annotations = doc_at(definition, "metadata.annotations");
    const char *text = json_string_value(json_object_get(annotations, CRD_ANNOTATION_REVISION));

    return text ? strtol(text, NULL, 10) : 0;
}

static bool check_flow_definition(struct server *server, struct error *err)
{
    static const char mend[] = "manifests --only=crds | kubectl apply --server-side "
                               "--force-conflicts -f -";
    scoped(json) json_t *definition = definition_of(server, &kind_job_flow);
    scoped(buf) struct buf gap = {0};
    long revision = revision_of(definition);

    if (revision >= CRD_REVISION || !definition)
        return true;
    if (revision > 0)
        return error_set(err, ERR_INVALID, "",
                         "the definition jobflows.flow.volcano.sh is of revision %ld, and %d is "
                         "needed: run '%s %s'",
                         revision, CRD_REVISION, cli_program, mend);
    return schema_gap(&kind_job_flow, definition, GAP_NAMED, &gap) == 0 ||
           error_set(err, ERR_INVALID, "",
                     "the definition jobflows.flow.volcano.sh is not of this program: it drops %s, "
                     "and with them what a restart needs: run '%s %s'",
                     gap.data, cli_program, mend);
}

/* Volcano's own definition of Jobs will do: what it drops are extras of this program. */
static void warn_of_job_definition(struct server *server)
{
    scoped(json) json_t *definition = definition_of(server, &kind_job);
    scoped(buf) struct buf gap = {0};

    if (definition && !revision_of(definition) &&
        schema_gap(&kind_job, definition, GAP_NAMED, &gap) > 0)
        log_warn("the definition jobs.batch.volcano.sh drops members of the status",
                 kv_str("members", gap.data),
                 kv_str("mend", "jobflow manifests --only=crds --own-job-crd"));
}

static bool check_rights(struct server *server, const struct start_needs *needs, struct error *err)
{
    scoped(buf) struct buf missing = {0};
    unsigned adds = gang_rights(needs->gang);
    const struct rights_wanted wanted = {needs->mode->rights | adds, needs->lease_ns,
                                         needs->namespaces};

    if (!rights_find_missing(server, &wanted, &missing, err))
        return false;
    if (!missing.len)
        return true;
    fprintf(stderr, "%s", missing.data);
    return error_set(err, ERR_FORBIDDEN, "",
                     "these rights are missing: run '%s manifests --mode=%s%s%s --only=rbac | "
                     "kubectl apply --server-side -f -', or give them to %s",
                     cli_program, needs->mode->name, adds ? " --gang=" : "",
                     adds ? needs->gang : "", server->user ? server->user : "this user");
}

bool start_check(struct server *server, const struct start_needs *needs, enum job_gang *out_gang,
                 struct error *err)
{
    if (!check_kinds(server, needs->mode, err))
        return false;
    if (!needs->upstream && !check_flow_definition(server, err))
        return false;
    if (needs->mode->runs_jobs)
        warn_of_job_definition(server);
    *out_gang = JOB_GANG_VOLCANO;
    if (!needs->mode->beside_volcano && !gang_choose(server, needs->gang, out_gang, err))
        return false;
    return check_rights(server, needs, err);
}
