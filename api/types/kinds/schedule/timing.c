/*
 * Checks schedules as admission does: parses the expression, and reads the zone from the machine.
 */
#include "api/types/kinds/schedule/timing.h"

#include "api/types/checks.h"
#include "api/types/text/suggest.h"
#include "base/mem.h"
#include "base/time/zone_file.h"

struct nearest {
    const char *typed;
    struct suggest best;
    char name[64]; /* the best name so far; `best` borrows the names that it is offered */
};

static void offer(void *arg, const char *name)
{
    struct nearest *nearest = arg;

    suggest_offer(&nearest->best, nearest->typed, name);
    if (nearest->best.word == name) {
        snprintf(nearest->name, sizeof nearest->name, "%s", name);
        nearest->best.word = nearest->name;
    }
}

static void check_zone(const char *zone, const char *path, struct error_list *errors)
{
    scoped(zone) struct zone *found = NULL;
    struct nearest nearest = {.typed = zone};
    struct error err = {0};

    if (!*zone) {
        FINDING(errors, ("%s", path),
                "Invalid value: \"\": timeZone must be nil or non-empty string, got empty string");
        return;
    }
    found = zone_open(zone, &err);
    if (found)
        return;
    zone_names_each(offer, &nearest);
    FINDING(errors, ("%s", path), "Invalid value: %s%s%s%s", err.message,
            nearest.best.word ? "; near: \"" : "", nearest.best.word ? nearest.best.word : "",
            nearest.best.word ? "\"" : "");
}

void timing_check(const struct admission *adm, const char *cron, const char *zone,
                  const char *cron_path, const char *zone_path, struct error_list *errors)
{
    struct cron parsed;
    struct error err = {0};

    if (!cron_parse(cron ? cron : "", &parsed, &err))
        FINDING(errors, ("%s", cron_path), "%s", err.message);
    if (zone) {
        check_zone(zone, zone_path, errors);
    } else if (adm->warnings) {
        scoped(buf) struct buf name = {0};

        zone_local_name(&name);
        FINDING(adm->warnings, ("%s", zone_path),
                "none is named: times are those of this machine (%s)", name.data);
    }
}

bool timing_parse(const char *cron, const struct object *object, bool elapsed, struct cron *out,
                  struct error *err)
{
    if (!cron_parse(cron ? cron : "", out, err))
        return false;
    out->anchor_s = object->meta->created_at_ms / 1000;
    out->elapsed = out->elapsed || elapsed;
    return true;
}

int64_t timing_number(const struct cron *cron, int64_t at_s)
{
    return cron->every_s && cron->every_s < 60 ? at_s : at_s / 60;
}
