/*
 * The merge tables. A member without a row is replaced.
 */
#include "template/merge_rows.h"

#include <string.h>

/* clang-format off */
static const struct merge_row resources_rows[] = {
    {"requests", MERGE_BY_KEY},
    {"limits",   MERGE_BY_KEY},
    {0},
};

static const struct merge_row container_rows[] = {
    {"env",           MERGE_LIST, {{"name"}}},
    {"volumeMounts",  MERGE_LIST, {{"mountPath"}}, .instead = "name"},
    {"volumeDevices", MERGE_LIST, {{"devicePath"}}},
    {"ports",         MERGE_LIST, {{"containerPort"}, {"protocol", "TCP"}}},
    {"resources",     MERGE_RECURSE, .of = resources_rows},
    {0},
};

static const struct merge_row pod_rows[] = {
    {"containers",                MERGE_LIST_DEEP, {{"name"}}, .of = container_rows},
    {"initContainers",            MERGE_LIST_DEEP, {{"name"}}, .of = container_rows},
    {"ephemeralContainers",       MERGE_LIST_DEEP, {{"name"}}, .of = container_rows},
    {"volumes",                   MERGE_LIST, {{"name"}}},
    {"imagePullSecrets",          MERGE_LIST, {{"name"}}},
    {"resourceClaims",            MERGE_LIST, {{"name"}}},
    {"schedulingGates",           MERGE_LIST, {{"name"}}},
    {"nodeSelector",              MERGE_BY_KEY},
    {"tolerations",               MERGE_LIST, {{"key", ""}, {"operator", "Equal"}, {"effect", ""}}, .first_key_is_enough = true},
    {"hostAliases",               MERGE_LIST, {{"ip"}}},
    {"topologySpreadConstraints", MERGE_LIST, {{"topologyKey"}, {"whenUnsatisfiable", ""}}},
    {0},
};

static const struct merge_row metadata_rows[] = {
    {"labels",      MERGE_BY_KEY},
    {"annotations", MERGE_BY_KEY},
    {0},
};

static const struct merge_row template_rows[] = {
    {"metadata", MERGE_RECURSE, .of = metadata_rows},
    {"spec",     MERGE_RECURSE, .of = pod_rows},
    {0},
};

static const struct merge_row task_rows[] = {
    {"template", MERGE_RECURSE, .of = template_rows},
    {0},
};

const struct merge_row merge_job_rows[] = {
    {"plugins", MERGE_BY_KEY},
    {"volumes", MERGE_LIST, {{"mountPath"}}},
    {"tasks",   MERGE_LIST_DEEP, {{"name"}}, .of = task_rows},
    {0},
};
/* clang-format on */

const struct merge_row *merge_row_of(const struct merge_row *rows, const char *member)
{
    static const struct merge_row replace = {NULL, MERGE_REPLACE};

    for (; rows && rows->member; rows++)
        if (strcmp(rows->member, member) == 0)
            return rows;
    return &replace;
}
