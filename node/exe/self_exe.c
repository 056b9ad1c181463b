/*
 * The executable of helper processes. The small program inside jobflow is copied to a memfd once;
 * processes are started from there.
 */
#include "node/exe/self_exe.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

/* bytes of the shim program (shim_image.c); NULL in programs that are linked without it */
extern const char shim_image[] __attribute__((weak, visibility("hidden")));
extern const char shim_image_end[] __attribute__((weak, visibility("hidden")));

const char *self_exe_path(void)
{
    static char path[32];
    // cppcheck-suppress comparePointers ; both are places in one image, which the linker names
    size_t len = shim_image ? (size_t)(shim_image_end - shim_image) : 0;
    int fd = len && !*path ? memfd_create(SHIM_NAME, MFD_CLOEXEC) : -1;

    if (fd >= 0 && file_write_all(fd, shim_image, len))
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* the descriptor stays open */
    else if (fd >= 0)
        close(fd);
    return *path ? path : "/proc/self/exe";
}
