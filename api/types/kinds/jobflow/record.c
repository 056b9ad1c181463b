/*
 * Names records, and reads how long they are kept.
 */
#include "api/types/kinds/jobflow/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"

enum { UID_DIGITS = 8 };

char *jobflow_record_name(const char *flow, const char *uid)
{
    return mem_printf("%s.%.*s", flow, UID_DIGITS, uid);
}

bool jobflow_is_record(const struct object *flow)
{
    return meta_annotation(flow->meta, ANNOTATION_RECORD_OF) != NULL;
}

bool jobflow_read_history_limit(const char *text, int *out)
{
    char *end;
    long limit = strtol(text, &end, 10);

    *out = (int)limit;
    return *text >= '0' && *text <= '9' && !*end && limit <= HISTORY_LIMIT_MAX;
}

bool jobflow_read_history_max_age(const char *text, int64_t *out_ms)
{
    int64_t ns;

    if (!duration_parse(text, &ns, NULL) || ns <= 0)
        return false;
    *out_ms = ns / 1000000;
    return true;
}

int jobflow_history_limit(const struct object *flow)
{
    const char *text = meta_annotation(flow->meta, ANNOTATION_HISTORY_LIMIT);
    int limit;

    return text && jobflow_read_history_limit(text, &limit) ? limit : HISTORY_LIMIT_DEFAULT;
}

int64_t jobflow_history_max_age_ms(const struct object *flow)
{
    const char *text = meta_annotation(flow->meta, ANNOTATION_HISTORY_MAX_AGE);
    int64_t age_ms;

    return text && jobflow_read_history_max_age(text, &age_ms) ? age_ms : 0;
}
