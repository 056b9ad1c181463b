/*
 * Only the first hundred errors and the first hundred warnings are printed, because a flow of many
 * steps may have the same mistake in each of them.
 */
#include "cli/target/findings.h"

#include "cli/command/command.h"

enum { FINDINGS_MAX = 100 };

static void print(struct findings *findings, size_t index, const char *severity, size_t *count,
                  const struct error *err)
{
    if (++*count <= FINDINGS_MAX)
        manifest_print(&findings->set->items[index], severity, err);
}

void findings_error(struct findings *findings, size_t index, const struct error *err)
{
    print(findings, index, "error", &findings->errors, err);
}

void findings_warn(struct findings *findings, size_t index, const struct error *err)
{
    print(findings, index, "warning", &findings->warnings, err);
}

void findings_add(struct findings *findings, size_t index, struct error_list *errors,
                  struct error_list *warnings)
{
    for (size_t i = 0; i < errors->count; i++)
        findings_error(findings, index, &errors->items[i]);
    for (size_t i = 0; i < warnings->count; i++)
        findings_warn(findings, index, &warnings->items[i]);
    findings->errors += errors->dropped;
    findings->warnings += warnings->dropped;
    error_list_release(errors);
    error_list_release(warnings);
}

void findings_end(const struct findings *findings)
{
    if (findings->errors > FINDINGS_MAX || findings->warnings > FINDINGS_MAX)
        cli_errorf("%zu errors and %zu warnings, of which %d each are shown", findings->errors,
                   findings->warnings, FINDINGS_MAX);
}
