/* covers: everyday.md EVD-003 EVD-012 */
#include "tests/unit.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/time/zone_file.h"

static const int64_t from_s = 0, until_s = 4102444800; /* 1970 to 2100 */

/* The C library reads the same files with code of its own. */
static int64_t libc_offset(int64_t at_s)
{
    time_t at = (time_t)at_s;
    struct tm local;

    localtime_r(&at, &local);
    return local.tm_gmtoff;
}

struct walk {
    int zones, instants;
};

static void compare(void *arg, const char *name)
{
    struct walk *walk = arg;
    struct error err = {0};
    scoped(zone) struct zone *zone = zone_open(name, &err);

    if (!zone &&
        err.code == ERR_INVALID) /* files beside the zones: tables of zones, leap seconds */
        return;
    check_ok(name, zone != NULL, err);
    setenv("TZ", name, 1);
    tzset();
    walk->zones++;
    for (int64_t at = from_s; at < until_s; at = zone_next_change_s(zone, at)) {
        for (int64_t near = at - 1; near <= at + 1; near++, walk->instants++)
            if (near >= from_s)
                check_int(name, zone_offset_s(zone, near), libc_offset(near));
    }
    for (int64_t at = from_s; at < until_s; at += 86400 * 7 + 12345, walk->instants++)
        check_int(name, zone_offset_s(zone, at), libc_offset(at));
}

static void every_zone_has_the_offsets_that_the_c_library_gives(void **state)
{
    struct walk walk = {0};

    zone_names_each(compare, &walk);
    unsetenv("TZ");
    check("zones", walk.zones > 400);
    check("instants", walk.instants > 100000);
}

static void local_times_are_once_twice_or_never(void **state)
{
    /* clang-format off */
    static const struct {
        const char *zone, *local;
        enum zone_fit fit;
        const char *at, *end_local;
    } cases[] = {
        {"Europe/Berlin", "2026-01-01T12:00:00Z", ZONE_ONCE, "2026-01-01T11:00:00Z", NULL},
        {"Europe/Berlin", "2026-03-29T01:59:59Z", ZONE_ONCE, "2026-03-29T00:59:59Z", NULL},
        {"Europe/Berlin", "2026-03-29T02:00:00Z", ZONE_GAP, "2026-03-29T01:00:00Z", "2026-03-29T03:00:00Z"},
        {"Europe/Berlin", "2026-03-29T02:59:59Z", ZONE_GAP, "2026-03-29T01:00:00Z", "2026-03-29T03:00:00Z"},
        {"Europe/Berlin", "2026-03-29T03:00:00Z", ZONE_ONCE, "2026-03-29T01:00:00Z", NULL},
        {"Europe/Berlin", "2026-10-25T02:00:00Z", ZONE_TWICE, "2026-10-25T00:00:00Z", "2026-10-25T03:00:00Z"},
        {"Europe/Berlin", "2026-10-25T02:59:59Z", ZONE_TWICE, "2026-10-25T00:59:59Z", "2026-10-25T03:00:00Z"},
        {"Europe/Berlin", "2026-10-25T03:00:00Z", ZONE_ONCE, "2026-10-25T02:00:00Z", NULL},
        {"Europe/Berlin", "2099-03-29T02:30:00Z", ZONE_GAP, "2099-03-29T01:00:00Z", "2099-03-29T03:00:00Z"},
        {"Pacific/Apia", "2011-12-30T12:00:00Z", ZONE_GAP, "2011-12-30T10:00:00Z", "2011-12-31T00:00:00Z"},
        {"UTC", "2026-01-01T12:00:00Z", ZONE_ONCE, "2026-01-01T12:00:00Z", NULL},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(zone) struct zone *zone = zone_open(cases[i].zone, NULL);
        int64_t local_ms = 0, at_ms = 0, end_ms = 0;
        struct zone_instant found;

        time_parse(cases[i].local, &local_ms, NULL);
        time_parse(cases[i].at, &at_ms, NULL);
        found = zone_instant(zone, local_ms / 1000);
        check_int(cases[i].local, found.fit, cases[i].fit);
        check_int(cases[i].local, found.at_s, at_ms / 1000);
        if (cases[i].end_local && time_parse(cases[i].end_local, &end_ms, NULL))
            check_int(cases[i].local, found.end_local_s, end_ms / 1000);
    }
}

static void names_lead_to_no_file_outside(void **state)
{
    scoped_str dir = test_path("zones");
    scoped_str link = test_path("zones/out");
    scoped_str sub = test_path("zones/in");
    scoped_str same = test_path("zones/alias");
    scoped_str real = test_path("zones/real");
    scoped(buf) struct buf bytes = {0};
    /* clang-format off */
    static const struct {
        const char *name;
        enum error_code code;
    } cases[] = {
        {"", ERR_INVALID},
        {"Local", ERR_INVALID},
        {"LOCAL", ERR_INVALID},
        {"../passwd", ERR_INVALID},
        {"in/../real", ERR_INVALID},
        {"./real", ERR_INVALID},
        {"/etc/passwd", ERR_INVALID},
        {"in//real", ERR_INVALID},
        {"real/", ERR_INVALID},
        {"-real", ERR_INVALID},
        {"re al", ERR_INVALID},
        {"Fifteen_letters", ERR_INVALID},
        {"out", ERR_NOT_FOUND},
        {"nothing", ERR_NOT_FOUND},
        {"real/below", ERR_NOT_FOUND},
    };
    /* clang-format on */

    check("read", file_read("/usr/share/zoneinfo/Europe/Berlin", ZONE_FILE_MAX, &bytes, NULL));
    mkdir(dir, 0755);
    mkdir(sub, 0755);
    check("link", symlink("/etc/passwd", link) == 0 && symlink("real", same) == 0);
    check("file", file_write_atomic(real, bytes.data, bytes.len, 0644, NULL));
    zone_environment(NULL, dir);
    for (size_t i = 0; i < countof(cases); i++) {
        struct error err = {0};

        check_error(cases[i].name, zone_open(cases[i].name, &err) != NULL, err, cases[i].code);
        check_has(cases[i].name, err.message, "unknown time zone \"");
    }
    {
        scoped(zone) struct zone *through_link = zone_open("alias", NULL);
        struct error err = {0};

        check("a link within", through_link != NULL);
        check_error("a directory", zone_open("in", &err) != NULL, err, ERR_INTERNAL);
    }
    zone_environment(NULL, NULL);
}

/* A file of version 1: one change at 1,000,000,000 s from +1 h to +2 h. */
static const unsigned char version_1[] = "TZif\0"
                                         "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                         "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\2"
                                         "\x3b\x9a\xca\x00"
                                         "\1"
                                         "\0\0\x0e\x10\0\0\0\0\x1c\x20\1\0"
                                         "A";

static void a_file_of_version_1_is_read(void **state)
{
    struct error err = {0};
    scoped(zone) struct zone *zone = zone_parse(version_1, sizeof version_1, &err);

    check_ok("version 1", zone != NULL, err);
    check_int("before", zone_offset_s(zone, 999999999), 3600);
    check_int("after", zone_offset_s(zone, 1000000000), 7200);
    check_int("change", zone_next_change_s(zone, 0), 1000000000);
    check_int("no other", zone_next_change_s(zone, 1000000000), INT64_MAX);
}

static void damaged_files_are_refused(void **state)
{
    scoped(buf) struct buf bytes = {0}, large = {0};
    struct error err = {0};

    check("read", file_read("/usr/share/zoneinfo/Europe/Berlin", ZONE_FILE_MAX, &bytes, NULL));
    for (size_t len = 0; len < bytes.len; len++)
        check_error("cut", zone_parse(bytes.data, len, &err) != NULL, err, ERR_INVALID);
    buf_add(&large, bytes.data, bytes.len);
    while (large.len <= ZONE_FILE_MAX)
        buf_char(&large, 'x');
    check_error("large", zone_parse(large.data, large.len, &err) != NULL, err, ERR_INVALID);
    bytes.data[bytes.len - 3] = '!';
    check_error("rule", zone_parse(bytes.data, bytes.len, &err) != NULL, err, ERR_INVALID);
}

static void rules_are_read_as_posix_writes_them(void **state)
{
    /* clang-format off */
    static const struct {
        const char *rule;
        bool good;
        int64_t at_s, offset_s;
    } cases[] = {
        {"UTC0", true, 0, 0},
        {"CET-1", true, 0, 3600},
        {"<+0330>-3:30", true, 0, 12600},
        {"CET-1CEST,M3.5.0,M10.5.0/3", true, 1774746000, 7200}, /* 2026-03-29T01:00:00Z */
        {"CET-1CEST,M3.5.0,M10.5.0/3", true, 1774745999, 3600},
        {"IST-1GMT0,M10.5.0,M3.5.0/1", true, 1767225600, 0},    /* 2026-01-01: summer is standard */
        {"AEST-10AEDT,M10.1.0,M4.1.0/3", true, 1767225600, 39600},
        {"EST5EDT,J60,J300", true, 1767225600, -18000},
        {"EST5EDT,59,300/-1", true, 1767225600, -18000},
        {"", false, 0, 0},
        {"CE-1", false, 0, 0},
        {"CET", false, 0, 0},
        {"CET-99", false, 0, 0},
        {"CET-1CEST", false, 0, 0},
        {"CET-1CEST,M3.5.0", false, 0, 0},
        {"CET-1CEST,M13.5.0,M10.5.0", false, 0, 0},
        {"CET-1CEST,M3.6.0,M10.5.0", false, 0, 0},
        {"CET-1CEST,M3.5.7,M10.5.0", false, 0, 0},
        {"CET-1CEST,M3.5.0,M10.5.0/168", false, 0, 0},
        {"CET-1CEST,M3.5.0,M10.5.0 ", false, 0, 0},
        {"<>-1", false, 0, 0},
        {"<+01-1", false, 0, 0},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(zone) struct zone *zone = zone_of_rule(cases[i].rule, NULL);

        check_int(cases[i].rule, zone != NULL, cases[i].good);
        if (zone)
            check_int(cases[i].rule, zone_offset_s(zone, cases[i].at_s), cases[i].offset_s);
    }
}

static void a_zone_in_use_follows_its_file(void **state)
{
    scoped_str dir = test_path("changing");
    scoped_str path = test_path("changing/Here");
    scoped(buf) struct buf berlin = {0}, tokyo = {0};
    struct zone_cache *cache = zone_cache_new();
    const struct zone *zone, *again;
    struct error err = {0};

    check("read", file_read("/usr/share/zoneinfo/Europe/Berlin", ZONE_FILE_MAX, &berlin, NULL) &&
                      file_read("/usr/share/zoneinfo/Asia/Tokyo", ZONE_FILE_MAX, &tokyo, NULL));
    mkdir(dir, 0755);
    check("write", file_write_atomic(path, berlin.data, berlin.len, 0644, NULL));
    zone_environment(NULL, dir);
    check_ok("first", zone_cache_get(cache, "Here", &zone, &err), err);
    check_int("first", zone_offset_s(zone, 1767225600), 3600);
    check_ok("unchanged", zone_cache_get(cache, "Here", &again, &err), err);
    check("unchanged", zone == again && !zone_cache_refresh(cache));
    check("replace", file_write_atomic(path, tokyo.data, tokyo.len, 0644, NULL));
    check("replaced", zone_cache_refresh(cache) && !zone_cache_refresh(cache));
    check_ok("changed", zone_cache_get(cache, "Here", &zone, &err), err);
    check_int("changed", zone_offset_s(zone, 1767225600), 9 * 3600);
    check("gone", unlink(path) == 0 && zone_cache_refresh(cache));
    check_error("gone", zone_cache_get(cache, "Here", &zone, &err), err, ERR_NOT_FOUND);
    zone_environment(NULL, NULL);
    zone_cache_free(cache);
}

static void the_zone_of_the_process_is_that_of_tz(void **state)
{
    /* clang-format off */
    static const struct {
        const char *tz, *name;
        int64_t offset_s; /* offset of the zone on 2026-01-01 */
    } cases[] = {
        {"Asia/Tokyo", "Asia/Tokyo", 32400},
        {":Asia/Tokyo", "Asia/Tokyo", 32400},
        {"/usr/share/zoneinfo/Asia/Tokyo", "/usr/share/zoneinfo/Asia/Tokyo", 32400},
        {"CET-1CEST,M3.5.0,M10.5.0/3", "CET-1CEST,M3.5.0,M10.5.0/3", 3600},
        {"", "UTC", 0},
        {"Nowhere/Land", "Nowhere/Land", 0},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf name = {0};

        zone_environment(cases[i].tz, NULL);
        {
            scoped(zone) struct zone *zone = zone_open_local();

            check_int(cases[i].tz, zone_offset_s(zone, 1767225600), cases[i].offset_s);
        }
        zone_local_name(&name);
        check_str(cases[i].tz, name.data, cases[i].name);
    }
    zone_environment(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_zone_has_the_offsets_that_the_c_library_gives),
        cmocka_unit_test(local_times_are_once_twice_or_never),
        cmocka_unit_test(names_lead_to_no_file_outside),
        cmocka_unit_test(a_file_of_version_1_is_read),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(rules_are_read_as_posix_writes_them),
        cmocka_unit_test(a_zone_in_use_follows_its_file),
        cmocka_unit_test(the_zone_of_the_process_is_that_of_tz),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
