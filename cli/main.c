/*
 * The program: picks a command by its first argument, or by the name it was called with (vcctl).
 */
#include <errno.h>
#include <locale.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/store/dir/dir_owner.h"
#include "base/mem.h"
#include "base/time/zone_file.h"
#include "cli/cmd/commands.h"
#include "node/runtime/runtime.h"
#include "node/shim/entry.h"

/* clang-format off */
const struct command *const commands[] = {
    &cmd_init,
    &cmd_run,
    &cmd_serve,
    &cmd_controller,
    &cmd_manifests,
    &cmd_token,
    &cmd_backup,
    &cmd_repair,
    &cmd_apply,
    &cmd_get,
    &cmd_describe,
    &cmd_graph,
    &cmd_report,
    &cmd_ui,
    &cmd_explain,
    &cmd_logs,
    &cmd_events,
    &cmd_wait,
    &cmd_delete,
    &cmd_retry,
    &cmd_rerun,
    &cmd_trigger,
    &cmd_backfill,
    &cmd_approve,
    &cmd_reject,
    &cmd_submit,
    &cmd_cancel,
    &cmd_reprioritize,
    &cmd_history,
    &cmd_cache,
    &cmd_suspend,
    &cmd_resume,
    &cmd_abort,
    &cmd_validate,
    &cmd_test,
    &cmd_convert,
    &cmd_schema,
    &cmd_plan,
    &cmd_doctor,
    &cmd_vcctl,
    &cmd_completion,
    &cmd_version,
    &cmd_help,
    NULL,
};
/* clang-format on */

/* The last part of the path it was started by. */
static bool is_called(const char *path, const char *name)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return path && strcmp(slash ? slash + 1 : path, name) == 0;
}

/* A user that has become root by sudo(8) may go on in a directory that it owns. */
static void trust_user_of_sudo(void)
{
    const char *text = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
    char *end = NULL;
    unsigned long uid = text ? strtoul(text, &end, 10) : 0;

    if (end && *text && !*end && uid < (uid_t)-1)
        dir_owner_trust_above((uid_t)uid);
}

static void *crypto_alloc(size_t bytes, const char *file, int line)
{
    return mem_alloc(bytes);
}

static void *crypto_resize(void *ptr, size_t bytes, const char *file, int line)
{
    if (bytes)
        return mem_resize(ptr, bytes);
    mem_free(ptr);
    return NULL;
}

static void crypto_free(void *ptr, const char *file, int line)
{
    mem_free(ptr);
}

/* libcrypto crashes when memory runs out while it initialises itself: it uses a lock that it could
 * not allocate. With these functions it ends as the rest of the program does (base/mem.h). They must
 * be set before its first allocation. */
static void end_crypto_without_memory(void)
{
    if (!CRYPTO_set_mem_functions(crypto_alloc, crypto_resize, crypto_free))
        mem_fatal("libcrypto has allocated memory before the program began");
}

/* Writes what is left of the output. Returns false with errno set when a part of the output could
 * not be written. When an earlier write has failed, its errno is lost: one more byte fails for the
 * same reason, or else completes nothing that is whole. */
static bool finish_output(void)
{
    bool failed = ferror(stdout) != 0;

    if (fflush(stdout) != 0)
        return false;
    if (failed && write(STDOUT_FILENO, "\n", 1) >= 0)
        errno = EIO;
    return !failed;
}

/* Returns the exit code of a command whose output has ended. A reader that has closed its end of the
 * pipe wanted no more, which is no failure. */
static int end_output(int code)
{
    if (finish_output() || errno == EPIPE)
        return code;
    cli_errorf("cannot write the output: %s", strerror(errno));
    return code == EXIT_OK ? EXIT_FAILED : code;
}

static int run_program(int argc, char **argv)
{
    static char help[] = "help", version[] = "version";
    const struct command *command;

    end_crypto_without_memory();
    setlocale(LC_CTYPE, "");
    zone_environment(getenv("TZ"), getenv("TZDIR"));
    trust_user_of_sudo();
    if (is_called(argv[0], "vcctl"))
        return vcctl_main(argc, argv);
    if (argc < 2) {
        command_help(NULL, stderr);
        return EXIT_REFUSED;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        argv[1] = help;
    else if (strcmp(argv[1], "--version") == 0)
        argv[1] = version;
    command = command_find(argv[1]);
    if (command == &cmd_vcctl && argc > 2 && strcmp(argv[2], "--help") != 0 &&
        strcmp(argv[2], "-h") != 0)
        return vcctl_main(argc - 1, argv + 1);
    if (!command)
        return command_unknown(argv[1]);
    return command_run(command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    int code = shim_main(argc, argv); /* the supervisors of pods are this program, too */

    return code >= 0 ? code : end_output(run_program(argc, argv));
}
