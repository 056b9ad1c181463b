/*
 * Reads and checks the annotation lives-with.
 */
#include "api/types/lives_with.h"

#include "api/types/checks.h"
#include "api/types/labels.h"

const char *lives_with(const struct meta *meta)
{
    return meta->n_annotations > 0 ? meta_annotation(meta, ANNOTATION_LIVES_WITH) : NULL;
}

bool lives_with_is_for(const struct kind *kind)
{
    return kind == &kind_config_map || kind == &kind_secret || kind == &kind_service ||
           kind == &kind_pvc;
}

void lives_with_check(const struct kind *kind, const struct meta *meta, struct error_list *errors)
{
    const char *job = lives_with(meta);
    struct error err = {0};

    if (!job)
        return;
    if (!lives_with_is_for(kind))
        FINDING(errors, ("metadata.annotations[%s]", ANNOTATION_LIVES_WITH),
                "Forbidden: a %s cannot live with a job: ConfigMaps, Secrets, Services and "
                "PersistentVolumeClaims can",
                kind->name);
    else if (!name_is_dns_subdomain(job, &err))
        FINDING(errors, ("metadata.annotations[%s]", ANNOTATION_LIVES_WITH),
                "Invalid value: \"%s\": not the name of a job: %s", job, err.message);
}
