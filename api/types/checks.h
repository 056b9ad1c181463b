#pragma once
/*
 * Helpers for validators: findings with a printf path, limits, warnings.
 */
#include "api/types/admission.h"
#include "base/buf.h"

#define CHECKS_UNPAREN(...) __VA_ARGS__

/**
 * Reports a finding: FINDING(errors, ("%s.tasks[%zu].name", path, i), "Duplicate value: \"%s\"",
 * name). The path is formatted only when there is something to report.
 */
#define FINDING(errors, path_format, ...)                                                          \
    FINDING_CODE(errors, ERR_INVALID, path_format, __VA_ARGS__)
#define FINDING_CODE(errors, code, path_format, ...)                                               \
    do {                                                                                           \
        scoped(buf) struct buf path_ = {0};                                                        \
        buf_printf(&path_, CHECKS_UNPAREN path_format);                                            \
        error_list_add((errors), (code), path_.data, __VA_ARGS__);                                 \
    } while (0)

/** Adds a warning, unless the caller of admission takes none. */
#define WARNING(adm, path_format, ...)                                                             \
    do {                                                                                           \
        if ((adm)->warnings)                                                                       \
            FINDING((adm)->warnings, path_format, __VA_ARGS__);                                    \
    } while (0)

static inline const struct limits *limits_of(const struct admission *adm)
{
    return adm->limits ? adm->limits : &limits_default;
}

/** Looks an object up. Returns NULL when it does not exist and when no look-up is possible. */
static inline const struct object *lookup(const struct admission *adm, const struct kind *kind,
                                          const char *ns, const char *name)
{
    return adm->get ? adm->get(adm->ctx, kind, ns, name) : NULL;
}

enum { GENERATED_SUFFIX = 5 }; /* characters the server adds to generateName */

/** Appends an object's name. A name that is still to be generated is filled up to its final length,
 * because the rules that use it check the length of names made from it. */
static inline void name_or_placeholder(const struct meta *meta, struct buf *out)
{
    if (*meta->name)
        buf_str(out, meta->name);
    else
        buf_printf(out, "%s%.*s", meta->generate_name ? meta->generate_name : "", GENERATED_SUFFIX,
                   "xxxxx");
}
