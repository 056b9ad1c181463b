/*
 * Schedules and zone files. The text is an expression, and what follows its first NUL is a zone
 * file. Next times ascend, the newest time is found by them, and each local time has an instant.
 */
/* covers: everyday.md EVD-012 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/time/cron.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_times(const struct cron *cron, const struct zone *zone, int64_t start)
{
    int64_t at = start, newest;

    for (int i = 0; i < 20; i++) {
        int64_t next;

        if (!cron_next(cron, zone, at, &next))
            return;
        require(next > at);
        at = next;
    }
    require(cron_newest(cron, zone, start, at, &newest) && newest == at);
    require(cron_count(cron, zone, start, at) == 20);
}

static void check_zone(const struct zone *zone, int64_t start)
{
    for (int64_t at = start, i = 0; i < 50 && at < INT64_MAX;
         at = zone_next_change_s(zone, at), i++) {
        int64_t local = at + zone_offset_s(zone, at);
        struct zone_instant found = zone_instant(zone, local);

        require(found.fit != ZONE_GAP && found.at_s <= at);
        require(found.at_s + zone_offset_s(zone, found.at_s) == local);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped_str text = mem_alloc(size + 1);
    struct cron cron;
    struct error err = {0};
    size_t len;

    if (size)
        memcpy(text, data, size);
    len = strlen(text);
    scoped(zone) struct zone *zone =
        len < size ? zone_parse(text + len + 1, size - len - 1, &err) : NULL;

    require(len >= size || zone || (err.code == ERR_INVALID && err.message[0]));
    if (zone) {
        check_zone(zone, 0);
        check_zone(zone, 1767225600);
    }
    err = (struct error){0};
    if (cron_parse(text, &cron, &err)) {
        check_times(&cron, zone, 0);
        check_times(&cron, zone, 1767225600);
    } else {
        require(err.code == ERR_INVALID && err.message[0]);
    }
    return 0;
}
