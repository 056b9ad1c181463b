/*
 * Checks the annotations of a flow that say how it runs and how long its records are kept.
 *
 * An update is checked only for the annotations that it changes. A flow with an invalid annotation
 * that an earlier version accepted can therefore still be changed in other ways.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/jobflow/admission.h"
#include "api/types/kinds/jobflow/record.h"

enum { RETRY_VALUE_MAX = 253 }; /* longest value in bytes, because the status keeps it */

static void check_failure_policy(const char *key, const char *value, struct error_list *errors)
{
    enum failure_policy known;

    if (!failure_policy_parse(value, &known))
        FINDING(errors, ("metadata.annotations[%s]", key),
                "Unsupported value: \"%.64s\": supported values: \"stop\", \"abort\", \"continue\"",
                value);
}

static void check_retry(const char *key, const char *value, struct error_list *errors)
{
    if (strlen(value) > RETRY_VALUE_MAX)
        FINDING(errors, ("metadata.annotations[%s]", key),
                "Too long: may not be longer than %d bytes", RETRY_VALUE_MAX);
}

static void check_history_limit(const char *key, const char *value, struct error_list *errors)
{
    int limit;

    if (!jobflow_read_history_limit(value, &limit))
        FINDING(errors, ("metadata.annotations[%s]", key),
                "Invalid value: \"%.64s\": must be a number from 0 to %d", value,
                HISTORY_LIMIT_MAX);
}

static void check_history_max_age(const char *key, const char *value, struct error_list *errors)
{
    int64_t age_ms;

    if (!jobflow_read_history_max_age(value, &age_ms))
        FINDING(errors, ("metadata.annotations[%s]", key),
                "Invalid value: \"%.64s\": must be a duration above 0, such as 720h", value);
}

/* clang-format off */
static const struct {
    const char *key;
    void (*check)(const char *key, const char *value, struct error_list *errors);
} rules[] = {
    {ANNOTATION_FAILURE_POLICY,  check_failure_policy},
    {ANNOTATION_FLOW_RETRY,      check_retry},
    {ANNOTATION_HISTORY_LIMIT,   check_history_limit},
    {ANNOTATION_HISTORY_MAX_AGE, check_history_max_age},
};
/* clang-format on */

bool jobflow_annotation_changed(const struct meta *before, const struct meta *meta, const char *key)
{
    const char *was = before ? meta_annotation(before, key) : NULL;
    const char *is = meta_annotation(meta, key);

    return was && is ? strcmp(was, is) != 0 : was != is;
}

void jobflow_validate_meta(const struct admission *adm, const struct meta *before,
                           const struct meta *meta, struct error_list *errors)
{
    for (size_t i = 0; i < countof(rules) && !adm->upstream_compat; i++) {
        const char *value = meta_annotation(meta, rules[i].key);

        if (value && jobflow_annotation_changed(before, meta, rules[i].key))
            rules[i].check(rules[i].key, value, errors);
    }
}
