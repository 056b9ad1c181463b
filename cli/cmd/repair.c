/*
 * The command `jobflow repair`: makes a damaged store whole again, or restores a backup.
 */
#include <string.h>

#include "api/store/repair.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/cmd/commands.h"
#include "cli/daemon/access.h"

struct repair_options {
    const char *data_dir, *from;
};

#define REPAIR(member) offsetof(struct repair_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR, "data-dir", 0, "DIR",  "of the daemon; default: $XDG_STATE_HOME/jobflow", REPAIR(data_dir)},
    {FLAG_STR, "from",     0, "FILE", "restore this backup instead", REPAIR(from)},
    {0},
};
/* clang-format on */

/* A time without the characters that are awkward in names of files. */
static char *stamp_now(void)
{
    char text[TIME_TEXT_MAX];

    time_format(clock_wall_ms(clock_real()), text);
    for (char *at = text; *at; at++)
        if (*at == ':')
            *at = '-';
    return mem_strdup(text);
}

static void print(const struct store_repair *repair)
{
    printf("%s/store.db has %lld objects; revisions go on from %lld\n", repair->directory,
           (long long)repair->kept, (long long)repair->revision);
    printf("the files of before are in %s/damaged-%s\n", repair->directory, repair->stamp);
    for (const char *at = repair->lost.len ? repair->lost.data : ""; *at;) {
        size_t n = strcspn(at, "\n");

        printf("lost: %.*s\n", (int)n, at);
        at += n;
        at += *at == '\n';
    }
}

static int run(const void *opaque, int n_operands, char **operands)
{
    const struct repair_options *options = opaque;
    scoped_str default_dir = access_default_dir();
    scoped_str stamp = stamp_now();
    struct store_repair repair = {
        .directory = options->data_dir ? options->data_dir : (const char *)default_dir,
        .from = options->from,
        .stamp = stamp,
    };
    struct error err = {0};
    bool ok;

    if (!repair.directory) {
        cli_errorf("neither XDG_STATE_HOME nor HOME is set: name a directory with --data-dir");
        return EXIT_REFUSED;
    }
    ok = store_repair(&repair, &err);
    if (ok)
        print(&repair);
    else
        cli_error(&err);
    buf_release(&repair.lost);
    if (ok)
        return repair.n_lost ? EXIT_FAILED : EXIT_OK;
    return err.code == ERR_INTERNAL || err.code == ERR_STORAGE ? EXIT_INTERNAL : EXIT_REFUSED;
}

const struct command cmd_repair = {
    .name = "repair",
    .summary = "Make a damaged store whole again, or restore a backup",
    .details =
        "Writes a new store of the rows that are whole, and prints what is lost. With --from it "
        "restores a backup, which it checks before.\nThe damaged files are kept beside it. "
        "Revisions go on above every revision that was ever given out. The daemon must be stopped. "
        "Exit code\n0: nothing is lost; 1: something is; 3: the store could not be repaired.",
    .examples = "  jobflow repair --data-dir /srv/jobflow\n"
                "  jobflow repair --from /backups/jobflow-2026-01-31T02-00-00Z.db",
    .flags = flags,
    .options_size = sizeof(struct repair_options),
    .run = run,
};
