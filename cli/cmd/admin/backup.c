/*
 * The command `jobflow backup`: writes the copy to FILE.part and renames it to FILE when it is
 * complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/client/client.h"
#include "cli/cmd/commands.h"
#include "cli/daemon/access.h"

struct backup_options {
    const char *data_dir;
};

#define BACKUP(member) offsetof(struct backup_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR, "data-dir", 0, "DIR", "of the daemon; default: $XDG_STATE_HOME/jobflow", BACKUP(data_dir)},
    {0},
};
/* clang-format on */

struct backup {
    struct client_call call;
    int fd;
    uint64_t bytes;
    struct error err; /* error while writing the file */
};

static void on_data(struct client_call *call, const char *bytes, size_t len)
{
    struct backup *backup = container_of(call, struct backup, call);

    if (backup->err.code != ERR_NONE)
        return;
    if (!file_write_all(backup->fd, bytes, len))
        error_errno(&backup->err, errno, "cannot write the backup");
    backup->bytes += len;
}

/* Renames the finished copy and syncs its directory, so that the name survives a crash. */
static bool put_in_place(const char *made, const char *path, struct error *err)
{
    scoped_str copy = mem_strdup(path);
    int dir;

    if (rename(made, path) < 0)
        return error_errno(err, errno, "cannot rename %s to %s", made, path);
    dir = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0) {
        fsync(dir);
        close(dir);
    }
    return true;
}

static bool fetch(struct client *client, struct backup *backup, struct error *err)
{
    if (!client_do(client, &backup->call, err))
        return false;
    if (backup->err.code != ERR_NONE) {
        *err = backup->err;
        return false;
    }
    return fsync(backup->fd) == 0 || error_errno(err, errno, "cannot sync the backup");
}

static bool make(struct client *client, const char *path, uint64_t *out_bytes, struct error *err)
{
    scoped_str part = mem_printf("%s.part", path);
    struct backup backup = {.call = {.target = "/backup", .data = on_data}};
    bool ok;

    backup.fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (backup.fd < 0)
        return error_errno(err, errno, "cannot create %s", part);
    ok = fetch(client, &backup, err);
    client_call_release(&backup.call);
    if (close(backup.fd) < 0 && ok)
        ok = error_errno(err, errno, "cannot write %s", part);
    ok = ok && put_in_place(part, path, err);
    if (!ok)
        unlink(part);
    *out_bytes = backup.bytes;
    return ok;
}

static int run(const void *opaque, int n_operands, char **operands)
{
    const struct backup_options *options = opaque;
    scoped_str default_dir = access_default_dir();
    const char *data_dir = options->data_dir ? options->data_dir : (const char *)default_dir;
    scoped(client) struct client *client = NULL;
    struct error err = {0};
    uint64_t bytes = 0;

    if (!data_dir) {
        cli_errorf("neither XDG_STATE_HOME nor HOME is set: name a directory with --data-dir");
        return EXIT_REFUSED;
    }
    client = client_open(data_dir, CLIENT_CHANGE, &err);
    if (!client || !make(client, operands[0], &bytes, &err)) {
        cli_error(&err);
        return client ? EXIT_FAILED : client_open_failed(&err);
    }
    printf("%s: %llu bytes\n", operands[0], (unsigned long long)bytes);
    return EXIT_OK;
}

const struct command cmd_backup = {
    .name = "backup",
    .operands = "FILE",
    .summary = "Copy the store of a daemon, at work or not, into a file",
    .details = "The copy is consistent and holds every change that was acknowledged before. It "
               "holds Secrets: keep it private. To restore it, stop\nthe daemon, run 'jobflow "
               "repair --from FILE', and start the daemon.",
    .examples = "  jobflow backup /backups/jobflow-$(date +%F).db",
    .flags = flags,
    .options_size = sizeof(struct backup_options),
    .min_operands = 1,
    .max_operands = 1,
    .operand_kind = "file",
    .run = run,
};
