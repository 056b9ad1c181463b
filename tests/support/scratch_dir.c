#include "tests/support/scratch_dir.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/file.h"

static char path[64];
static int fd = -1;

static void remove_it(void)
{
    close(fd);
    file_remove_tree(AT_FDCWD, path, NULL);
}

static void make(void)
{
    static const char *const templates[] = {"/dev/shm/jobflow-test-XXXXXX",
                                            "/tmp/jobflow-test-XXXXXX"};

    for (size_t i = 0; i < countof(templates); i++) {
        snprintf(path, sizeof path, "%s", templates[i]);
        if (mkdtemp(path))
            break;
        path[0] = '\0';
    }
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert(fd >= 0);
    atexit(remove_it);
}

const char *scratch_dir(void)
{
    if (fd < 0)
        make();
    return path;
}

int scratch_dir_fd(void)
{
    scratch_dir();
    return fd;
}
