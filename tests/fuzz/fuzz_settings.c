/*
 * FZ-08: the settings file of `jobflow serve`. A file is read whole, or refused with an error that
 * names it; reading it twice gives the same.
 */
/* covers: reliability.md FZ-08 */
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cmd/commands.h"
#include "cli/command/settings.h"
#include "cli/daemon/daemon.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const struct command *const commands[] = {&cmd_serve, NULL};

static bool is_same_list(const struct flag_list *a, const struct flag_list *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct daemon_options first = {0}, second = {0};
    int fd = memfd_create("settings", MFD_CLOEXEC);
    scoped_str path = mem_printf("/proc/self/fd/%d", fd);
    struct error err = {0};
    bool ok;

    assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    ok = settings_load(path, cmd_serve.flags, &first, arena, &err);
    assert(ok || (err.code != ERR_NONE && *err.message));
    assert(settings_load(path, cmd_serve.flags, &second, arena, &err) == ok);
    if (ok)
        assert(is_same_list(&first.listen, &second.listen) &&
               first.max_flow_steps == second.max_flow_steps && first.max_flow_steps >= 0 &&
               first.max_flow_steps <= 1000000);
    close(fd);
    return 0;
}
