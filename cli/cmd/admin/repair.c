/*
 * The command `jobflow repair`: makes a damaged store whole again, or restores a backup.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/store/db/repair.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/cmd/admin/repair_pods.h"
#include "cli/cmd/commands.h"
#include "cli/daemon/access.h"

struct repair_options {
    const char *data_dir, *from;
    bool yes;
};

#define REPAIR(member) offsetof(struct repair_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR, "data-dir", 0, "DIR",  "of the daemon; default: $XDG_STATE_HOME/jobflow", REPAIR(data_dir)},
    {FLAG_STR, "from",     0, "FILE", "restore this backup instead", REPAIR(from)},
    {FLAG_BOOL, "yes",    'y', NULL,  "do not ask before running pods are ended", REPAIR(yes)},
    {0},
};
/* clang-format on */

/* Returns a time without the characters that are awkward in names of files. */
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

static bool asks_and_hears_yes(void)
{
    char answer[16] = "";

    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return false;
    fputs("Go on? [y/N] ", stderr);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

/* Running pods that the new store does not have are ended by the next daemon. They are named before
 * anything is replaced, and the user must agree. */
static bool agree(void *ctx, const char *old, const char *new, struct error *err)
{
    const struct repair_options *options = ctx;
    scoped(buf) struct buf pods = {0};
    struct error why = {0};
    int64_t n = repair_ends_pods(options->data_dir, old, new, &pods, &why);

    if (n == 0)
        return true;
    if (n < 0)
        fprintf(stderr, "which running pods the next daemon ends cannot be known: %s\n",
                why.message);
    else
        fprintf(stderr,
                "The next daemon ends these running pods, which the new store does not have:\n%s",
                pods.data);
    if (options->yes || asks_and_hears_yes())
        return true;
    return error_set(
        err, ERR_CONFLICT, "",
        "nothing was changed, because running pods would be ended; --yes accepts that");
}

static int run(const void *opaque, int n_operands, char **operands)
{
    struct repair_options options = *(const struct repair_options *)opaque;
    scoped_str default_dir = access_default_dir();
    scoped_str stamp = stamp_now();
    struct store_repair repair = {
        .directory = options.data_dir ? options.data_dir : (const char *)default_dir,
        .from = options.from,
        .stamp = stamp,
        .agree = agree,
        .ctx = &options,
    };
    struct error err = {0};
    bool ok;

    if (!repair.directory) {
        cli_errorf("neither XDG_STATE_HOME nor HOME is set: name a directory with --data-dir");
        return EXIT_REFUSED;
    }
    options.data_dir = repair.directory;
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
        "Running\npods that are not in the new store are ended by the next daemon: they are named "
        "before anything is replaced, and a terminal is\nasked; elsewhere --yes must accept it. "
        "Exit code 0: nothing is lost; 1: something is; 2: not done; 3: the store could not be\n"
        "repaired.",
    .examples = "  jobflow repair --data-dir /srv/jobflow\n"
                "  jobflow repair --from /backups/jobflow-2026-01-31T02-00-00Z.db",
    .flags = flags,
    .options_size = sizeof(struct repair_options),
    .run = run,
};
