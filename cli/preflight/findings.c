/*
 * The findings of a preflight: errors are printed as they are found, warnings at the end.
 */
#include "base/mem.h"
#include "cli/command/command.h"
#include "cli/preflight/internal.h"

enum { WARNINGS_MAX = 1000 }; /* warnings kept; further ones are only counted */

void preflight_errors_dropped(const struct manifest *manifest, size_t dropped)
{
    if (dropped)
        cli_errorf("%s: %zu more findings not shown", manifest->file, dropped);
}

void preflight_errors(struct preflight_run *run, const struct manifest *manifest,
                      const struct error_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        manifest_print(manifest, "error", &list->items[i]);
    preflight_errors_dropped(manifest, list->dropped);
    run->result->errors += list->count + list->dropped;
}

void preflight_warn(struct preflight_run *run, const struct manifest *manifest,
                    const struct error_list *list)
{
    run->result->warnings += list->dropped;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].code == ERR_NOT_FOUND)
            continue; /* preflight_check_templates reports it after all objects are loaded */
        run->result->warnings++;
        if (run->n_warnings == WARNINGS_MAX)
            continue;
        mem_grow(run->warnings, run->n_warnings, run->warnings_cap);
        run->warnings[run->n_warnings++] = (struct preflight_warning){manifest, list->items[i]};
    }
}

void preflight_error(struct preflight_run *run, const struct manifest *manifest,
                     const struct error *err)
{
    manifest_print(manifest, "error", err);
    run->result->errors++;
}

void preflight_print_warnings(const struct preflight_run *run)
{
    for (size_t i = 0; i < run->n_warnings && run->result->errors == 0; i++)
        manifest_print(run->warnings[i].manifest, "warning", &run->warnings[i].text);
}

void preflight_findings_release(struct preflight_run *run)
{
    mem_free(run->warnings);
}
